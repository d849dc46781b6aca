// A run as the page knows it: a snapshot of the server, and the events after it, folded in one by one.
//
// Invariant: folding the events after a snapshot gives what the server would say itself, except for sentences
// and what follows from the whole plan (`why`, `critical_path`, steps that may still come); these come with the
// next snapshot, which `stale` asks for. An event is folded once: its number must be the next one.

import type { Envelope, Happened, Result } from "../../../api/events";
import type { Awaited, Path, Question, QuestionKind, Run, Span, Step, StepStatus, Usage } from "../../../api/types";
import { container, isInside } from "./path";
import { Spans } from "./spans";

/** A step without those inside it: they are found by path. */
export type FlatStep = Omit<Step, "steps">;

/** What a run is, besides its steps. */
export type Head = Omit<Run, "steps" | "timeline" | "questions">;

const NOTHING: Usage = { input_tokens: 0, output_tokens: 0, usd: 0 };
const OVER: ReadonlySet<StepStatus> = new Set(["succeeded", "failed", "skipped", "cancelled"]);

export class Fold {
  head: Head;
  questions: Question[];
  readonly spans: Spans;
  readonly steps = new Map<Path, FlatStep>();
  /** Steps in each container, in order; those of the workflow itself under the empty path. */
  readonly inside = new Map<Path, Path[]>();
  /** Counts changes of which steps there are. */
  shape = 0;
  /** Whether the server knows more than was folded. */
  stale = false;
  /** Steps with an open attempt, and steps that wait. */
  private readonly open = new Set<Path>();
  private readonly waiting = new Map<Path, Awaited>();
  private paused: boolean;

  constructor(snapshot: Run) {
    const { steps, timeline, questions, ...head } = snapshot;
    this.head = { ...head, progress: { ...head.progress } };
    this.questions = questions;
    this.spans = new Spans(timeline);
    this.paused = snapshot.status === "paused";
    this.take(steps, "");
  }

  private take(steps: Step[], outer: Path): void {
    for (const { steps: inner, ...step } of steps) {
      this.steps.set(step.path, step);
      this.list(outer).push(step.path);
      this.mark(step);
      this.take(inner ?? [], step.path);
    }
    for (const path of this.head.current ?? []) this.open.add(path);
  }

  private mark(step: FlatStep): void {
    if (step.status === "waiting" && step.waiting_for) this.waiting.set(step.path, step.waiting_for);
  }

  private list(outer: Path): Path[] {
    const known = this.inside.get(outer);
    if (known) return known;
    const made: Path[] = [];
    this.inside.set(outer, made);
    return made;
  }

  /** Folds an event; false if it is not the next one. */
  apply(envelope: Envelope): boolean {
    if (envelope.seq !== this.head.seq + 1) return false;
    this.head = { ...this.head, seq: envelope.seq };
    this.event(envelope as Happened, envelope.at);
    this.settle();
    return true;
  }

  private event(event: Happened, at: number): void {
    switch (event.event) {
      case "attempt_started":
        this.reach(event.path, at);
        this.open.add(event.path);
        this.waiting.delete(event.path);
        this.change(event.path, { status: "running", attempts: event.attempt, started_at: at, waiting_for: undefined, error: undefined });
        return this.spans.begin(event.path, { attempt: event.attempt }, at);
      case "session_seen":
        return this.change(event.path, { agent: { name: event.session.agent, session: event.session.id, since: this.steps.get(event.path)?.started_at ?? at } });
      case "attempt_succeeded":
        this.attemptOver(event.path, event.result);
        this.change(event.path, { error: undefined });
        return this.spans.end(event.path, at, "succeeded");
      case "attempt_failed":
        this.attemptOver(event.path, event.result);
        this.change(event.path, { error: event.error });
        return this.spans.end(event.path, at, "failed");
      case "attempt_stopped":
        this.attemptOver(event.path, { usage: event.usage });
        this.change(event.path, { status: "pending" });
        return this.spans.end(event.path, at, "stopped");
      case "retry_scheduled":
        this.stale = true;
        this.wait(event.path, "timer", at);
        if (event.due > at) this.spans.begin(event.path, { pause: event.attempt }, at);
        return;
      case "step_skipped":
        this.reach(event.path, at);
        this.change(event.path, { status: "skipped", skipped: event.why, ended_at: at, duration_ms: 0 });
        return this.spans.end(event.path, at, "over");
      case "items_found":
      case "body_opened":
        this.stale = true;
        this.reach(event.path, at);
        return this.change(event.path, { status: "running", started_at: this.steps.get(event.path)?.started_at ?? at });
      case "question_asked":
        this.stale = true;
        this.wait(event.path, awaited(event.kind), at);
        if (event.error) this.change(event.path, { error: event.error });
        this.change(event.path, { started_at: this.steps.get(event.path)?.started_at ?? at });
        return this.spans.begin(event.path, "question", at);
      case "answered":
        this.stale = true;
        this.waiting.delete(event.path);
        this.questions = this.questions.filter((question) => question.path !== event.path);
        this.change(event.path, { status: "running", waiting_for: undefined });
        return this.spans.end(event.path, at, "answered");
      case "wait_started":
        this.stale = true;
        this.wait(event.path, event.signal === undefined ? "timer" : "event", at);
        return this.spans.begin(event.path, "wait", at);
      case "step_ended":
        return this.stepOver(event, at);
      case "rewound":
        this.stale = true;
        this.spans.end(event.path, at, "over");
        return this.spans.giveUp(at, (path) => isInside(path, event.path));
      case "limit_reached":
        this.head.limits_reached = [...(this.head.limits_reached ?? []), event.limit];
        return;
      case "paused":
      case "unpaused":
        this.stale = true;
        this.paused = event.event === "paused";
        return;
      case "cancel_requested":
        this.stale = true;
        return;
      case "reopened":
        this.stale = true;
        this.head = { ...this.head, status: "running", ended_at: undefined, message: undefined, outputs: undefined };
        return;
      case "run_finished":
        return this.runOver(event, at);
      case "attempt_adopted":
        return;
    }
    // Something this page does not know: the server does.
    this.stale = true;
  }

  private attemptOver(path: Path, result: Result = {}): void {
    this.open.delete(path);
    const step = this.steps.get(path);
    const usage = sum(step?.usage ?? NOTHING, result.usage);
    this.change(path, { usage, agent: undefined, ...("output" in result ? { output: result.output } : {}) });
    this.head.usage = sum(this.head.usage, result.usage);
  }

  private wait(path: Path, what: Awaited, at: number): void {
    this.reach(path, at);
    this.waiting.set(path, what);
    this.change(path, { status: "waiting", waiting_for: what });
  }

  private stepOver({ path, end }: Extract<Happened, { event: "step_ended" }>, at: number): void {
    this.reach(path, at);
    this.waiting.delete(path);
    this.open.delete(path);
    const step = this.steps.get(path);
    const since = step ? (this.since(step) ?? at) : at;
    this.change(path, {
      status: end.status, waiting_for: undefined, ended_at: at, duration_ms: Math.max(at - since, 0), rung: undefined, agent: undefined,
      ...("output" in end ? { output: end.output } : {}),
      ...(end.error ? { error: end.error } : {}),
      ...(end.defaulted ? { defaulted: true } : {}),
    });
    this.spans.end(path, at, "over");
    this.spans.giveUp(at, (inner) => isInside(inner, path));
    // What comes next may be left out, and only the whole plan says what that is.
    if (end.status !== "succeeded") this.stale = true;
  }

  private since(step: FlatStep): number | undefined {
    return this.reached.get(step.path) ?? step.started_at;
  }

  /** When steps were reached that the snapshot did not have. */
  private readonly reached = new Map<Path, number>();

  private runOver(event: Extract<Happened, { event: "run_finished" }>, at: number): void {
    const status = ({ success: "succeeded", failure: "failed", cancelled: "cancelled" } as const)[event.outcome];
    this.stale = true;
    this.questions = [];
    this.open.clear();
    this.waiting.clear();
    for (const step of this.steps.values()) {
      if (!OVER.has(step.status) && step.status !== "pending") this.change(step.path, { status: "cancelled", waiting_for: undefined, agent: undefined });
    }
    this.spans.giveUp(at, () => true);
    const { started_at } = this.head;
    const over = { status, ended_at: at, duration_ms: Math.max(at - started_at, 0), why: undefined };
    this.head = { ...this.head, ...over, message: event.message, outputs: event.outputs };
  }

  /** Makes a step that was not there before. */
  private reach(path: Path, at: number): void {
    const known = this.steps.get(path);
    if (known) {
      if (known.status === "pending") this.reached.set(path, at);
      return;
    }
    const outer = container(path);
    if (outer !== undefined) this.reach(outer, at);
    this.shape += 1;
    this.reached.set(path, at);
    this.steps.set(path, { path, kind: "", status: "pending", attempts: 0, duration_ms: 0, usage: NOTHING });
    this.head.progress.pending += 1;
    this.list(outer ?? "").push(path);
  }

  private change(path: Path, change: Partial<FlatStep>): void {
    const before = this.steps.get(path);
    if (!before) return;
    const after = { ...before, ...change };
    this.head.progress[before.status] -= 1;
    this.head.progress[after.status] += 1;
    this.steps.set(path, after);
  }

  /** The status of the run follows from what is open and what waits. */
  private settle(): void {
    if (this.head.ended_at !== undefined) return;
    const busy = this.open.size > 0 || this.waiting.size === 0;
    const status = this.paused ? "paused" : busy ? "running" : "waiting";
    const waiting_for = [...new Set(this.waiting.values())];
    Object.assign(this.head, { status, current: [...this.open], waiting_for: waiting_for.length ? waiting_for : undefined });
  }

  get timeline(): Span[] {
    return this.spans.all;
  }
}

function awaited(kind: QuestionKind): Awaited {
  return kind === "question" ? "question" : kind === "operator" ? "operator" : "approval";
}

function sum(a: Usage, b: Usage | undefined): Usage {
  if (!b) return a;
  const cached = (a.cached_tokens ?? 0) + (b.cached_tokens ?? 0);
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    usd: a.usd + b.usd,
    ...(cached ? { cached_tokens: cached } : {}),
    ...(a.usd_unknown || b.usd_unknown ? { usd_unknown: true } : {}),
  };
}
