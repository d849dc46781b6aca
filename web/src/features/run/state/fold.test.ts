import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Envelope } from "../../../api/events";
import type { Run, Step } from "../../../api/types";
import { Fold } from "./fold";
import { container, indexInside, isInside, segments } from "./path";

interface Recorded {
  events: Envelope[];
  snapshots: Run[];
}

function recorded(name: string): Recorded {
  const { events, snapshots, picture } = JSON.parse(readFileSync(`fixtures/recorded/${name}.json`, "utf8"));
  const whole = (run: Run): Run => ({ ...run, inputs: {}, timeline: [], critical_path: [], picture });
  return { events, snapshots: snapshots.map(whole) };
}

const flat = (steps: Step[]): Step[] => steps.flatMap((step) => [step, ...flat(step.steps ?? [])]);

/** A run in lines, without what only the engine can know: which steps will come, and which never will. */
function lines(fold: Fold): string[] {
  const { head } = fold;
  const steps = [...fold.steps.values()].filter((step) => step.status !== "pending" && step.skipped !== "upstream");
  const upstream = [...fold.steps.values()].filter((step) => step.skipped === "upstream").length;
  const line = ({ path, status, waiting_for, skipped, attempts, started_at, ended_at, output, error, usage }: (typeof steps)[number]) =>
    JSON.stringify([
      path,
      status,
      waiting_for,
      skipped,
      attempts,
      started_at && started_at - head.started_at,
      ended_at && ended_at - head.started_at,
      output,
      error?.message,
      usage.input_tokens,
      usage.usd.toFixed(6),
    ]);
  const progress = { ...head.progress, pending: 0, skipped: head.progress.skipped - upstream };
  const about = [
    head.status,
    head.waiting_for,
    head.ended_at,
    head.message,
    head.outputs,
    head.usage.usd.toFixed(6),
    [...(head.current ?? [])].sort(),
    progress,
  ];
  return [JSON.stringify(about), ...steps.map(line).sort()];
}

const folded = (snapshot: Run, events: Envelope[]) => {
  const fold = new Fold(snapshot);
  expect(events.filter((event) => !fold.apply(event))).toEqual([]);
  return fold;
};

describe.each(["release-1", "nightly-1", "interview-1"])("%s", (name) => {
  const { events, snapshots } = recorded(name);

  it("folds to what the engine says, from every commit to every later one", () => {
    for (const [at, from] of snapshots.entries()) {
      for (const to of snapshots.slice(at + 1)) {
        const between = events.slice(from.seq, to.seq);
        expect(lines(folded(from, between)), `from ${from.seq} to ${to.seq}`).toEqual(lines(new Fold(to)));
      }
    }
  });

  it("takes each event once and none too early", () => {
    const fold = new Fold(snapshots[0] as Run);
    const next = events[fold.head.seq] as Envelope;
    expect(fold.apply({ ...next, seq: next.seq + 1 })).toBe(false);
    expect(fold.apply(next)).toBe(true);
    const before = lines(fold);
    expect(fold.apply(next)).toBe(false);
    expect(lines(fold)).toEqual(before);
  });

  it("knows every step of the end by where it stands", () => {
    const last = snapshots.at(-1) as Run;
    const fold = folded(snapshots[0] as Run, events.slice(snapshots[0]?.seq));
    for (const step of flat(last.steps)) expect(fold.inside.get(container(step.path) ?? "")).toContain(step.path);
  });
});

describe("a run that does other things", () => {
  const { events, snapshots } = recorded("nightly-1");
  const start = snapshots[0] as Run;
  const happen = (...happened: object[]) =>
    folded(
      start,
      happened.map((event, at) => ({ v: 1, seq: start.seq + 1 + at, at: start.started_at + at * 1_000, ...event }) as Envelope),
    );

  it("is paused until it is not", () => {
    expect(happen({ event: "paused" }).head.status).toBe("paused");
    expect(happen({ event: "paused" }, { event: "unpaused" }).head.status).toBe("running");
  });

  it("is stopped until somebody resumes it", () => {
    expect(happen({ event: "run_stopped", by: "ana" }).head.status).toBe("stopped");
    expect(happen({ event: "run_stopped" }, { event: "run_resumed" }).head.status).toBe("running");
  });

  it("waits for its host where a step is handed out, and knows who took it", () => {
    const taken = [
      { event: "attempt_started", path: "fetch", attempt: 1, hosted: true },
      { event: "claimed", path: "fetch", attempt: 1, by: "Editor", until: 9 },
    ];
    const over = { event: "attempt_succeeded", path: "fetch", attempt: 1, result: { output: "done" } };
    const seen = [taken.slice(0, 1), taken, [...taken, over]].map((events) => {
      const { head, steps } = happen(...events);
      return [head.status, head.waiting_for, steps.get("fetch")?.status, steps.get("fetch")?.agent?.name];
    });
    expect(seen).toEqual([
      ["waiting", ["client"], "waiting", undefined],
      ["waiting", ["client"], "waiting", "Editor"],
      ["running", undefined, "running", undefined],
    ]);
  });

  it("waits for a worker until one takes the step, and knows who and where", () => {
    const events = [
      { event: "attempt_started", path: "fetch", attempt: 1, queued: ["gpu"] },
      { event: "attempt_released", path: "fetch", attempt: 1 },
      { event: "attempt_claimed", path: "fetch", attempt: 1, worker: "bert", host: "beta" },
      { event: "attempt_succeeded", path: "fetch", attempt: 1, result: {} },
    ];
    const seen = [1, 2, 3, 4].map((until) => {
      const { head, steps, spans } = happen(...events.slice(0, until));
      const maker = spans.maker("fetch");
      return [head.status, head.waiting_for, head.current, steps.get("fetch")?.status, maker?.worker, maker?.host];
    });
    expect(seen).toEqual([
      ["waiting", ["worker"], [], "waiting", undefined, undefined],
      ["waiting", ["worker"], [], "waiting", undefined, undefined],
      ["running", undefined, ["fetch"], "running", "bert", "beta"],
      ["running", undefined, [], "running", "bert", "beta"],
    ]);
    const all = happen(...events);
    expect(all.timeline.map(({ what, from, to }) => [what, from - start.started_at, (to ?? 0) - start.started_at])).toEqual([
      ["wait", 0, 2_000],
      [{ attempt: 1 }, 2_000, 3_000],
    ]);
    expect((all.startOf("fetch") ?? 0) - start.started_at).toBe(2_000);
  });

  it("is asked about a machine while an attempt waits for it, and the wait continues", () => {
    const asked = [
      { event: "attempt_started", path: "fetch", attempt: 1, queued: ["host:beta"] },
      { event: "question_asked", path: "fetch", kind: "machine", text: "What now?" },
    ];
    const seen = [asked, [...asked, { event: "answered", path: "fetch", answer: { value: { value: "wait" } } }]].map((events) => {
      const { head, steps, timeline } = happen(...events);
      return [head.status, head.waiting_for, steps.get("fetch")?.status, timeline.map(({ what, to }) => [what, to])];
    });
    expect(seen).toEqual([
      ["waiting", ["machine"], "waiting", [["wait", undefined]]],
      ["waiting", ["worker"], "waiting", [["wait", undefined]]],
    ]);
  });

  it("asks the server what follows from a machine that is missed or given up", () => {
    expect(happen({ event: "host_missed", host: "beta", since: 0 }).stale).toBe(true);
    expect(happen({ event: "host_left", host: "beta" }).stale).toBe(true);
  });

  it("asks the server about what it does not know", () => {
    expect(happen({ event: "attempt_started", path: "fetch", attempt: 1 }).stale).toBe(false);
    expect(happen({ event: "something_new" }).stale).toBe(true);
  });

  it("starts again where it was over", () => {
    const over = folded(start, events.slice(start.seq));
    expect([over.head.status, over.head.ended_at !== undefined]).toEqual(["failed", true]);
    over.apply({ v: 1, seq: over.head.seq + 1, at: 0, event: "reopened" });
    expect([over.head.status, over.head.ended_at, over.head.message]).toEqual(["running", undefined, undefined]);
  });

  it("gives spans an end when their step, or the run, has one", () => {
    const spans = happen(
      { event: "attempt_started", path: "fetch", attempt: 1 },
      { event: "attempt_failed", path: "fetch", attempt: 1, error: { class: "transient", message: "no" } },
      { event: "retry_scheduled", path: "fetch", attempt: 2, due: start.started_at + 9_000 },
      { event: "attempt_started", path: "fetch", attempt: 2 },
      { event: "run_finished", outcome: "cancelled" },
    ).timeline.map(({ what, from, to, end }) => [what, from - start.started_at, (to ?? 0) - start.started_at, end]);
    expect(spans).toEqual([
      [{ attempt: 1 }, 0, 1_000, "failed"],
      [{ pause: 2 }, 2_000, 3_000, "over"],
      [{ attempt: 2 }, 3_000, 4_000, "given up"],
    ]);
  });

  it("keeps up with twenty thousand events", () => {
    const many = Array.from({ length: 5_000 }, (_, at) => [
      { event: "attempt_started", path: `each[${at}]/work`, attempt: 1 },
      {
        event: "attempt_succeeded",
        path: `each[${at}]/work`,
        attempt: 1,
        result: { output: at, usage: { input_tokens: 1, output_tokens: 1, usd: 0.01 } },
      },
      { event: "step_ended", path: `each[${at}]/work`, end: { status: "succeeded" } },
      { event: "timer_fired", timer: "x" },
    ]).flat();
    const fold = happen(...many);
    expect([fold.head.seq, fold.head.progress.succeeded, fold.head.usage.input_tokens]).toEqual([20_000 + start.seq, 5_000, 5_000]);
  });
});

describe("paths", () => {
  it("are read as the engine writes them", () => {
    expect(segments("tasks[3]/gate#2/x")).toEqual([
      { id: "tasks", visit: 1, index: 3 },
      { id: "gate", visit: 2 },
      { id: "x", visit: 1 },
    ]);
    expect(segments("gate#2[1]/x")[0]).toEqual({ id: "gate", visit: 2, index: 1 });
  });

  it("know their container", () => {
    expect(["a", "a/b", "a[2]/b", "a[1]/b#2[0]/c"].map(container)).toEqual([undefined, "a", "a", "a[1]/b#2"]);
    expect(["a", "a/b", "a[2]/b", "a[1]/b/c"].map(indexInside)).toEqual([undefined, undefined, 2, undefined]);
    expect([isInside("ab/c", "a"), isInside("a[0]/c", "a"), isInside("a/c", "a"), isInside("a", "a")]).toEqual([false, true, true, false]);
  });
});
