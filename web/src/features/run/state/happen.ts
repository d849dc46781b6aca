// Applies each event to the state.

import type { Envelope, Happened } from "../../../api/events";
import type { Awaited, QuestionKind } from "../../../api/types";
import type { Fold } from "./fold";
import { isInside } from "./path";

type Named<E extends Happened["event"]> = Extract<Happened, { event: E }>;
type Handlers = { [E in Happened["event"]]: (fold: Fold, event: Named<E>, at: number) => void };

const nothing = () => {};
const onlyTheServerKnows = (fold: Fold) => {
  fold.stale = true;
};

const HANDLERS: Handlers = {
  attempt_started(fold, { path, attempt, hosted, host, queued }, at) {
    fold.reach(path, at);
    fold.waiting.delete(path);
    fold.change(path, { status: "running", attempts: attempt, started_at: at, waiting_for: undefined, error: undefined });
    if (queued) {
      fold.stale = true;
      fold.wait(path, "worker", at);
      fold.spans.begin(path, "wait", at);
      return;
    }
    if (hosted) fold.wait(path, "client", at);
    else fold.open.add(path);
    fold.spans.begin(path, { attempt }, at, { host });
  },
  attempt_claimed(fold, { path, attempt, worker, host }, at) {
    // A run that waited because this machine was silent continues.
    fold.stale = true;
    fold.waiting.delete(path);
    fold.open.add(path);
    fold.change(path, { status: "running", started_at: at, waiting_for: undefined });
    fold.spans.begin(path, { attempt }, at, { worker, host });
  },
  attempt_released: onlyTheServerKnows,
  host_settled: nothing,
  host_missed: onlyTheServerKnows,
  host_left: onlyTheServerKnows,
  host_seen: onlyTheServerKnows,
  files_rebuilt: nothing,
  carry_failed: nothing,
  attempt_delayed: onlyTheServerKnows,
  tool_denied: onlyTheServerKnows,
  imported: nothing,
  attempt_adopted: nothing,
  claimed(fold, { path, by }, at) {
    fold.change(path, { agent: { name: by, since: fold.steps.get(path)?.agent?.since ?? at } });
    fold.stale = true;
  },
  heartbeat_seen: nothing,
  handed_back(fold, { path }, at) {
    fold.stale = true;
    fold.change(path, { agent: undefined });
    fold.spans.end(path, at, "given back");
  },
  files_kept: nothing,
  files_restored: nothing,
  session_seen(fold, { path, session }, at) {
    fold.change(path, { agent: { name: session.agent, session: session.id, since: fold.startOf(path) ?? at } });
  },
  attempt_succeeded(fold, { path, result }, at) {
    fold.attemptOver(path, result);
    fold.change(path, { error: undefined });
    fold.spans.end(path, at, "succeeded");
  },
  attempt_failed(fold, { path, error, result }, at) {
    fold.attemptOver(path, result);
    fold.change(path, { error });
    fold.spans.end(path, at, "failed");
  },
  attempt_stopped(fold, { path, usage }, at) {
    fold.attemptOver(path, usage ? { usage } : {});
    fold.change(path, { status: "pending" });
    fold.spans.end(path, at, "stopped");
  },
  retry_scheduled(fold, { path, attempt, due }, at) {
    fold.stale = true;
    fold.wait(path, "timer", at);
    if (due > at) fold.spans.begin(path, { pause: attempt }, at);
  },
  step_skipped(fold, { path, why }, at) {
    fold.reach(path, at);
    fold.change(path, { status: "skipped", skipped: why, ended_at: at, duration_ms: 0 });
    fold.spans.end(path, at, "over");
  },
  items_found: entered,
  body_opened: entered,
  question_asked(fold, { path, kind, error }, at) {
    fold.stale = true;
    fold.wait(path, awaited(kind), at);
    // Its attempt keeps waiting while a person is asked where to continue.
    if (kind === "machine") return;
    fold.change(path, { started_at: fold.startOf(path) ?? at, ...(error ? { error } : {}) });
    fold.spans.begin(path, "question", at);
  },
  answered(fold, { path }, at) {
    fold.stale = true;
    fold.questions = fold.questions.filter((question) => question.path !== path);
    if (fold.waiting.get(path) === "machine") return fold.wait(path, "worker", at);
    fold.waiting.delete(path);
    fold.change(path, { status: "running", waiting_for: undefined });
    fold.spans.end(path, at, "answered");
  },
  approved: onlyTheServerKnows,
  consented: nothing,
  hint_given: onlyTheServerKnows,
  budget_changed: onlyTheServerKnows,
  consent_revoked: onlyTheServerKnows,
  wait_started(fold, { path, signal }, at) {
    fold.stale = true;
    fold.wait(path, signal === undefined ? "timer" : "event", at);
    fold.spans.begin(path, "wait", at);
  },
  step_ended(fold, { path, end }, at) {
    fold.reach(path, at);
    fold.waiting.delete(path);
    fold.open.delete(path);
    const { output, error, defaulted } = end;
    const over = {
      status: end.status,
      waiting_for: undefined,
      ended_at: at,
      duration_ms: fold.tookUntil(path, at),
      rung: undefined,
      agent: undefined,
    };
    fold.change(path, {
      ...over,
      ...("output" in end ? { output } : {}),
      ...(error ? { error } : {}),
      ...(defaulted ? { defaulted } : {}),
    });
    fold.spans.end(path, at, "over");
    fold.spans.giveUp(at, (inner) => isInside(inner, path));
    // The next step may be skipped, and only the whole plan says which one it is.
    if (end.status !== "succeeded") fold.stale = true;
  },
  rewound(fold, { path }, at) {
    fold.stale = true;
    fold.spans.end(path, at, "over");
    fold.spans.giveUp(at, (inner) => isInside(inner, path));
  },
  limit_reached(fold, { limit }) {
    fold.head.limits_reached = [...(fold.head.limits_reached ?? []), limit];
  },
  unit_stopped: onlyTheServerKnows,
  cancel_requested: onlyTheServerKnows,
  paused(fold) {
    fold.stale = true;
    fold.paused = true;
  },
  unpaused(fold) {
    fold.stale = true;
    fold.paused = false;
  },
  run_stopped(fold) {
    fold.stale = true;
    fold.stopped = true;
  },
  run_resumed(fold) {
    fold.stale = true;
    fold.stopped = false;
  },
  reopened(fold) {
    fold.stale = true;
    fold.stopped = false;
    Object.assign(fold.head, { status: "running", ended_at: undefined, message: undefined, outputs: undefined });
  },
  plan_replaced(fold) {
    fold.stale = true;
    Object.assign(fold.head, { status: "running", ended_at: undefined, message: undefined, outputs: undefined });
  },
  result_kept: onlyTheServerKnows,
  run_finished(fold, { outcome, message, outputs }, at) {
    fold.stale = true;
    fold.giveUp(at);
    const status = ({ success: "succeeded", failure: "failed", cancelled: "cancelled" } as const)[outcome];
    Object.assign(fold.head, {
      status,
      ended_at: at,
      duration_ms: Math.max(at - fold.head.started_at, 0),
      why: undefined,
      message,
      outputs,
    });
  },
};

/** Events that the page need not read. */
const TOLD_ONLY: ReadonlySet<string> = new Set([
  "run_started",
  "timer_fired",
  "signalled",
  "signal_refused",
  "refused",
  "on_failure_started",
  "on_failure_ended",
]);

export function happen(fold: Fold, envelope: Envelope): void {
  const handler = (HANDLERS as Record<string, ((fold: Fold, event: unknown, at: number) => void) | undefined>)[envelope.event];
  if (handler) handler(fold, envelope, envelope.at);
  // An event that this page does not know: the server does.
  else if (!TOLD_ONLY.has(envelope.event)) fold.stale = true;
}

function entered(fold: Fold, { path }: Named<"items_found" | "body_opened">, at: number): void {
  fold.stale = true;
  fold.reach(path, at);
  fold.change(path, { status: "running", started_at: fold.startOf(path) ?? at });
}

function awaited(kind: QuestionKind): Awaited {
  return kind === "question" || kind === "operator" || kind === "machine" ? kind : "approval";
}
