// The events of a run that pages read. Other events pass through, so a later version of the server is no reason to stop.

import type { Answer, Failure, Json, Path, QuestionKind, Step, Usage } from "./types";

export interface Result {
  output?: Json;
  exit_code?: number;
  stdout?: string;
  stderr?: string;
  usage?: Usage;
  cached?: boolean;
}

export interface End {
  status: "succeeded" | "failed" | "skipped" | "cancelled";
  output?: Json;
  choice?: string;
  error?: Failure;
  defaulted?: boolean;
  tolerated?: boolean;
}

export type Happened =
  | { event: "attempt_started"; path: Path; attempt: number; hosted?: boolean; host?: string; queued?: string[] }
  | { event: "attempt_claimed"; path: Path; attempt: number; worker: string; host?: string }
  | { event: "attempt_released"; path: Path; attempt: number }
  | { event: "host_settled"; host: string }
  | { event: "host_missed"; host: string; since: number }
  | { event: "host_left"; host: string; by?: string; carried?: { commit: string } }
  | { event: "host_seen"; host: string }
  | { event: "files_rebuilt"; path: Path; attempt: number; host: string; commit: string }
  | { event: "attempt_delayed"; path: Path; attempt: number; why?: string }
  | { event: "tool_denied"; path: Path; attempt: number; tool: string }
  | { event: "carry_failed"; path: Path; attempt: number; why: string }
  | { event: "imported"; by?: string }
  | { event: "claimed"; path: Path; attempt: number; by: string; until: number }
  | { event: "heartbeat_seen"; path: Path; attempt: number; hint?: string; until: number }
  | { event: "handed_back"; path: Path; attempt: number }
  | { event: "files_kept"; path: Path; attempt: number }
  | { event: "files_restored"; path: Path; attempt: number }
  | { event: "attempt_adopted"; path: Path; attempt: number }
  | { event: "session_seen"; path: Path; attempt: number; session: { id: string; agent: string } }
  | { event: "attempt_succeeded"; path: Path; attempt: number; result: Result }
  | { event: "attempt_failed"; path: Path; attempt: number; error: Failure; result?: Result }
  | { event: "attempt_stopped"; path: Path; attempt: number; usage?: Usage }
  | { event: "retry_scheduled"; path: Path; attempt: number; due: number }
  | { event: "step_skipped"; path: Path; why: NonNullable<Step["skipped"]> }
  | { event: "items_found"; path: Path; items: Json[] }
  | { event: "body_opened"; path: Path; index: number }
  | { event: "question_asked"; path: Path; kind: QuestionKind; text: string; due?: number; error?: Failure }
  | { event: "answered"; path: Path; answer: Answer | "timed_out"; by?: string; comment?: string }
  | { event: "approved"; path: Path; given: number; needed: number; by?: string; comment?: string }
  | { event: "consented"; path: Path; rule: string }
  | { event: "hint_given"; path: Path; text: string; by?: string }
  | { event: "budget_changed"; change: Record<string, { to?: number; by?: number }>; by?: string }
  | { event: "consent_revoked"; by?: string }
  | { event: "wait_started"; path: Path; due?: number; signal?: string }
  | { event: "step_ended"; path: Path; end: End }
  | { event: "rewound"; path: Path; to: string }
  | { event: "limit_reached"; limit: string }
  | { event: "unit_stopped"; path: Path; why: string }
  | { event: "cancel_requested"; by?: string; reason?: string }
  | { event: "paused"; by?: string }
  | { event: "unpaused"; by?: string }
  | { event: "run_stopped"; by?: string }
  | { event: "run_resumed"; by?: string }
  | { event: "reopened"; from?: Path; by?: string }
  | { event: "plan_replaced"; kept?: string[]; again?: string[]; dropped?: string[]; by?: string }
  | { event: "result_kept"; path: Path; was?: Path; unfinished?: boolean }
  | { event: "run_finished"; outcome: "success" | "failure" | "cancelled"; message?: string; outputs?: Record<string, Json> };

/** An event with its place in the history of a run. */
export type Envelope = { v: number; seq: number; at: number } & (Happened | Other);

/** Events that pages do not read. */
export interface Other {
  event: "run_started" | "timer_fired" | "signalled" | "signal_refused" | "routed" | "refused" | "on_failure_started" | "on_failure_ended";
  [field: string]: unknown;
}
