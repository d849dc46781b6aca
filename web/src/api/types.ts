// The data of the server, as `docs/reference/api.md` describes it.
//
// **Invariant:** names and shapes are those of that page; nothing here belongs to the dashboard only. `agree.ts` compares them
// with the server's description.

import type { Made } from "./made";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Path = string;
export type Status = "queued" | "running" | "waiting" | "paused" | "stopped" | "succeeded" | "failed" | "cancelled";
export type StepStatus = "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled";
export type Awaited = "approval" | "question" | "operator" | "timer" | "event" | "client" | "worker" | "machine";

export interface Usage {
  input_tokens: number;
  cached_tokens?: number;
  output_tokens: number;
  usd: number;
  usd_unknown?: boolean;
  at_least?: boolean;
}

export type Failure = Made<"Failure">;

export interface Origin {
  face: "cli" | "mcp" | "dashboard" | "api" | "trigger";
  user?: string;
  client?: string;
  session?: string;
  inside?: string[];
}

export interface Diagnostic {
  code: string;
  severity: "error" | "warning" | "note";
  message: string;
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  label?: string;
  help?: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail?: string;
  /** The kind of reason, if a command was rejected. */
  kind?: string;
  /** Who was first, if another caller was. */
  first?: { what: string; by?: string; at: number };
  /** The places of a value that do not fit, by JSON pointer. */
  fields?: { at: string; message: string }[];
  diagnostics?: Diagnostic[];
}

/** The result of an applied command. */
export type CommandOutcome = Made<"CommandOutcome">;

export interface Picture {
  graph: Graph;
  layout: Layout;
}

export interface Graph {
  title: string;
  description?: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export interface GraphNode {
  key: string;
  step?: number;
  id: string;
  title: string;
  kind: string;
  detail?: string;
  parent?: string;
  group: boolean;
  start: boolean;
  gate: boolean;
  optional: boolean;
  skippable: boolean;
  when?: string;
  parallel?: number;
}

export interface GraphEdge {
  from: string;
  to: string;
  label?: string;
  kind: "dependency" | "next" | "rewind" | "goto";
}

export type Area = Made<"Area">;

export type Point = Made<"Point">;

export interface Layout {
  width: number;
  height: number;
  nodes: ({ key: string } & Area)[];
  edges: { from: string; to: string; points: Point[]; label?: Area }[];
}

export type About = Made<"About">;

export interface Tally {
  succeeded: number;
  failed: number;
  cancelled: number;
  open: number;
  last?: RunRow;
}

export interface WorkflowRow {
  name: string;
  /** The name inside the file, if it is another one. Runs have this name. */
  title?: string;
  description: string;
  steps: number | null;
  ok: boolean;
  origin: string;
  file: string;
  hides: { origin: string; file: string }[];
  runs: Tally;
}

export interface Input {
  schema: Json;
  default?: Json;
  optional?: boolean;
  description?: string;
}

export interface Workflow extends WorkflowRow {
  dialect: string;
  source: string;
  inputs: Record<string, Input>;
  outputs: string[];
  limits: { usd?: number; tokens?: number; duration_ms?: number; steps?: number; parallel?: number };
  picture?: Picture;
  diagnostics: Diagnostic[];
  last_runs: RunRow[];
}

export interface Checked {
  ok: boolean;
  diagnostics: Diagnostic[];
  picture?: Picture;
}

/** Where a run stands, in a word and a line. */
export interface Standing {
  is: "queued" | "running" | "needs_you" | "waiting" | "paused" | "stopped" | "no_engine" | "succeeded" | "failed" | "cancelled";
  text?: string;
  by?: string;
  since?: number;
  until?: number;
  step?: string;
  command?: string;
}

export interface RunRow {
  run: string;
  workflow: string;
  status: Status;
  standing: Standing;
  updated_at: number;
  summary: {
    task: string;
    done: number;
    started_at: number;
    usd: number;
    message?: string;
    ended_at?: number;
    waiting_for?: Awaited[];
    waits?: string;
  };
  parent?: string;
  owner?: Origin;
}

export interface RunsPage {
  runs: RunRow[];
  next?: string;
}

export interface Why {
  path?: Path;
  text: string;
}

export type Progress = Record<StepStatus, number>;

export interface Run {
  run: string;
  seq: number;
  workflow: string;
  task: string;
  status: Status;
  standing?: Standing;
  waiting_for?: Awaited[];
  progress: Progress;
  usage: Usage;
  started_at: number;
  ended_at?: number;
  duration_ms: number;
  current?: Path[];
  message?: string;
  outputs?: Record<string, Json>;
  limits_reached?: string[];
  why?: Why[];
  inputs: Record<string, Json>;
  owner?: Origin;
  parent?: string;
  forked?: [string, Path];
  steps: Step[];
  questions: Question[];
  cost: Cost;
  timeline: Span[];
  critical_path: Path[];
  picture: Picture;
}

export interface Step {
  path: Path;
  name?: string;
  item?: string;
  kind: string;
  status: StepStatus;
  waiting_for?: Awaited;
  skipped?: "when" | "run_if" | "route" | "denied" | "upstream" | "cancelled";
  replaced?: boolean;
  defaulted?: boolean;
  denied?: string[];
  attempts: number;
  started_at?: number;
  ended_at?: number;
  duration_ms: number;
  usage: Usage;
  output?: Json;
  error?: Failure;
  agent?: { name: string; session?: string; since: number };
  rung?: string;
  hints?: { text: string; by?: string; at: number; heard: boolean }[];
  steps?: Step[];
}

export interface Cost {
  total: Usage;
  steps: { path: Path; usage: Usage }[];
  agents: Record<string, Usage>;
  set_aside: Usage;
  assumed: Usage;
  limit: { usd?: number; tokens?: number };
}

export type Spanned = { attempt: number } | { pause: number } | "question" | "wait";

export interface Span {
  path: Path;
  what: Spanned;
  from: number;
  to?: number;
  end?: string;
  worker?: string;
  host?: string;
}

export interface Attempt {
  attempt: number;
  status: "waiting" | "running" | "succeeded" | "failed" | "stopped";
  started_at: number;
  ended_at?: number;
  usage?: Usage;
  error?: Failure;
  rung?: string;
  agent?: string;
  worker?: string;
  host?: string;
  session?: string;
  exit_code?: number;
  cached?: boolean;
  output?: Json;
  prompt?: string;
  has: ("transcript" | "stdout" | "stderr")[];
}

export type Entry =
  | { type: "session"; id: string; model?: string }
  | { type: "text"; text: string; delta?: boolean }
  | { type: "thinking"; text: string }
  | { type: "tool_call"; id: string; name: string; summary: string; input?: Json }
  | { type: "tool_result"; id: string; ok: boolean; text?: string }
  | { type: "denied"; name: string }
  | { type: "notice"; text: string }
  | { type: "usage"; meter: { input_tokens: number; cached_tokens: number; output_tokens: number; usd?: number } }
  | { type: "background"; tasks: string[] }
  | { type: "goes_on" }
  | { type: "alive" }
  | { type: "result" };

export interface TranscriptPage {
  entries: Entry[];
  next: number;
  more: boolean;
}

export type PrintedPage = Made<"Printed">;

export interface Artifact {
  name: string;
  bytes: number;
  kind: "text" | "diff" | "json" | "other";
}

export interface Live {
  path: Path;
  attempt: number;
  number: number;
  entry: Entry;
}

export type Here = Made<"Here">;

export type QuestionKind = "approval" | "question" | "review" | "operator" | "consent" | "machine";

export interface Questions {
  questions: Question[];
  /** Runs that may have questions but cannot be read. */
  unreadable?: { run: string; why: string }[];
}

export interface Question {
  run: string;
  workflow: string;
  task: string;
  path: Path;
  name?: string;
  kind: QuestionKind;
  text: string;
  choices?: string[];
  schema?: Json;
  output?: Json;
  error?: Failure;
  asked_at: number;
  due?: number;
  shown: string;
  approvals?: Made<"Question">["approvals"];
  /** How many people must approve, if more than one. */
  needed?: number;
  /** The approvals so far. */
  approved?: { by: string; at: number; comment?: string }[];
  here: Here;
}

export type Answer = "approve" | "skip" | { deny: { reason?: string } } | { edit: { value: Json } } | { value: { value: Json } };

export type Roster = Made<"Roster">;

export type Worker = Made<"Worker">;

export type Duty = Made<"HeldTask">;

export type OpenDuty = Made<"OpenTask">;

export type Totals = Made<"Totals">;

export type Found = Made<"Found">;
