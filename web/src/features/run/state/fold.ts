// A run as the page knows it: a snapshot of the server, and the events after it, applied one by one.
//
// Invariant: a snapshot with the events after it gives what the server would say, except for sentences and what follows from the
// whole plan (`why`, `critical_path`, steps that may still come). These come with the next snapshot, which `stale` asks for. An
// event is applied once: its number must be the next one.

import type { Envelope, Result } from "../../../api/events";
import type { Awaited, Path, Question, Run, Span, Step, StepStatus, Usage } from "../../../api/types";
import { type Scale, scale } from "../timeline/scale";
import { happen } from "./happen";
import { container } from "./path";
import { Spans } from "./spans";

/** A step without the steps inside it, which are found by path. */
export type FlatStep = Omit<Step, "steps">;

/** The data of a run, without its steps. */
export type Head = Omit<Run, "steps" | "timeline" | "questions">;

const NOTHING: Usage = { input_tokens: 0, output_tokens: 0, usd: 0 };
const LEFT_ALONE: ReadonlySet<StepStatus> = new Set(["succeeded", "failed", "skipped", "cancelled", "pending"]);

export class Fold {
  head: Head;
  questions: Question[];
  readonly spans: Spans;
  readonly steps = new Map<Path, FlatStep>();
  /** The steps of each container, in order; those of the workflow itself under the empty path. */
  readonly inside = new Map<Path, Path[]>();
  /** Changes when steps are added or removed. */
  shape = 0;
  /** Whether the server knows more than the applied events. */
  stale = false;
  paused: boolean;
  stopped: boolean;
  /** Steps with an open attempt, and steps that wait. */
  readonly open = new Set<Path>();
  readonly waiting = new Map<Path, Awaited>();
  /** When steps were reached since the snapshot. */
  private readonly reached = new Map<Path, number>();

  constructor(snapshot: Run) {
    const { steps, timeline, questions, ...head } = snapshot;
    this.head = { ...head, progress: { ...head.progress } };
    this.questions = questions;
    this.spans = new Spans(timeline);
    this.paused = snapshot.status === "paused";
    this.stopped = snapshot.status === "stopped";
    this.take(steps, "");
    for (const path of head.current ?? []) this.open.add(path);
  }

  private take(steps: Step[], outer: Path): void {
    for (const { steps: inner, ...step } of steps) {
      this.steps.set(step.path, step);
      this.list(outer).push(step.path);
      if (step.status === "waiting" && step.waiting_for) this.waiting.set(step.path, step.waiting_for);
      this.take(inner ?? [], step.path);
    }
  }

  private list(outer: Path): Path[] {
    const known = this.inside.get(outer);
    if (known) return known;
    const made: Path[] = [];
    this.inside.set(outer, made);
    return made;
  }

  get timeline(): Span[] {
    return this.spans.all;
  }

  /** The axis of time up to a moment. Many bars use it, so it is computed once for each moment and event. */
  axis(end: number): Scale {
    const of = `${this.head.seq} ${end}`;
    if (this.measured?.of !== of) this.measured = { of, scale: scale(this.timeline, this.head.started_at, end) };
    return this.measured.scale;
  }

  private measured: { of: string; scale: Scale } | undefined;

  /** Applies an event; returns false if it is not the next one. */
  apply(envelope: Envelope): boolean {
    if (envelope.seq !== this.head.seq + 1) return false;
    this.head = { ...this.head, seq: envelope.seq };
    happen(this, envelope);
    this.settle();
    return true;
  }

  /** The status of the run follows from open attempts and waiting steps. */
  private settle(): void {
    if (this.head.ended_at !== undefined) return;
    const busy = this.open.size > 0 || this.waiting.size === 0;
    const status = this.stopped ? "stopped" : this.paused ? "paused" : busy ? "running" : "waiting";
    const waiting_for = [...new Set(this.waiting.values())];
    // Only the server knows where the run stands; until the next snapshot, its status says enough.
    if (status !== this.head.status) this.head = { ...this.head, standing: undefined };
    Object.assign(this.head, { status, current: [...this.open], waiting_for: waiting_for.length ? waiting_for : undefined });
  }

  /** Makes a new step. */
  reach(path: Path, at: number): void {
    const known = this.steps.get(path);
    if (!known || known.status === "pending") this.reached.set(path, at);
    if (known) return;
    const outer = container(path);
    if (outer !== undefined) this.reach(outer, at);
    this.shape += 1;
    this.steps.set(path, { path, kind: "", status: "pending", attempts: 0, duration_ms: 0, usage: NOTHING });
    this.head.progress.pending += 1;
    this.list(outer ?? "").push(path);
  }

  change(path: Path, change: Partial<FlatStep>): void {
    const before = this.steps.get(path);
    if (!before) return;
    const after = { ...before, ...change };
    this.head.progress[before.status] -= 1;
    this.head.progress[after.status] += 1;
    this.steps.set(path, after);
  }

  /** When a step started, if it has. */
  startOf(path: Path): number | undefined {
    return this.steps.get(path)?.started_at;
  }

  /** How long it has been since a step was reached. */
  tookUntil(path: Path, at: number): number {
    return Math.max(at - (this.reached.get(path) ?? this.startOf(path) ?? at), 0);
  }

  wait(path: Path, what: Awaited, at: number): void {
    this.reach(path, at);
    this.waiting.set(path, what);
    this.change(path, { status: "waiting", waiting_for: what });
  }

  /** Ends an attempt with its result. */
  attemptOver(path: Path, result: Result = {}): void {
    this.open.delete(path);
    this.waiting.delete(path);
    const usage = sum(this.steps.get(path)?.usage ?? NOTHING, result.usage);
    this.change(path, {
      status: "running",
      waiting_for: undefined,
      usage,
      agent: undefined,
      ...("output" in result ? { output: result.output } : {}),
    });
    this.head.usage = sum(this.head.usage, result.usage);
  }

  /** Ends everything that is still running when the run is over. */
  giveUp(at: number): void {
    this.questions = [];
    this.open.clear();
    this.waiting.clear();
    for (const step of this.steps.values()) {
      if (!LEFT_ALONE.has(step.status)) this.change(step.path, { status: "cancelled", waiting_for: undefined, agent: undefined });
    }
    this.spans.giveUp(at, () => true);
  }
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
    ...(a.at_least || b.at_least ? { at_least: true } : {}),
  };
}
