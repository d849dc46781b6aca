// Describes the events of a run for people, one line per event.

import type { Envelope } from "../../../api/events";
import { by, duration, waitsFor } from "../../../ui/format";

/** An event in words. An unknown event is shown by its name. */
export function story(envelope: Envelope): string {
  const event = envelope;
  switch (event.event) {
    case "run_started":
      return `${String(event["workflow"])} starts`;
    case "attempt_started":
      return `${event.path} ${event.queued ? waitsFor(event.queued) : `starts${event.host ? ` on ${event.host}` : ""}`}${nth(event.attempt)}`;
    case "attempt_claimed":
      return `${event.path} was taken by ${by(event)}`;
    case "attempt_released":
      return `${event.path} waits for a worker again: its worker is gone`;
    case "host_settled":
      return `the files of the run are on ${event.host}`;
    case "host_missed":
      return `the machine ${event.host} has been silent for ${duration(event.at - event.since)}, and the files of the run are on it`;
    case "host_left":
      return `the next steps may run on any machine: the files on ${event.host} are ${left(event.carried)}${event.by ? `, says ${event.by}` : ""}`;
    case "host_seen":
      return `the machine ${event.host} is back`;
    case "files_rebuilt":
      return `${event.path}: the files of the run were rebuilt on ${event.host}, ${from(event)}`;
    case "carry_failed":
      return `${event.path}: its files could not be sent to the remote: ${event.why}`;
    case "attempt_delayed":
      return event.why ? `${event.path} waits: ${event.why}` : `${event.path} continues`;
    case "tool_denied":
      return `${event.path}: its agent called the tool ${event.tool}, which it may not use, and continued without it`;
    case "imported":
      return `the run was restored from an archive${event.by ? ` by ${event.by}` : ""}`;
    case "attempt_adopted":
      return `${event.path} kept running`;
    case "claimed":
      return `${event.path} was taken by ${event.by}`;
    case "heartbeat_seen":
      return `${event.path} is alive${event.hint ? `: ${event.hint}` : ""}`;
    case "handed_back":
      return `${event.path} was given back, and is offered again`;
    case "files_kept":
      return `${event.path}: its files were recorded`;
    case "files_restored":
      return `${event.path}: the files of the interrupted turn were restored`;
    case "session_seen":
      return `${event.path} talks to ${event.session.agent}, session ${event.session.id}`;
    case "attempt_succeeded":
      return `${event.path} is done`;
    case "attempt_failed":
      return `${event.path} failed: ${event.error.message}`;
    case "attempt_stopped":
      return `${event.path} was stopped, and runs again`;
    case "retry_scheduled":
      return `${event.path} is tried again${event.due > event.at ? ` in ${duration(event.due - event.at)}` : ""}, attempt ${event.attempt}`;
    case "step_skipped":
      return `${event.path} is skipped: ${SKIPPED[event.why] ?? event.why}`;
    case "items_found":
      return `${event.path} has ${event.items.length} items`;
    case "body_opened":
      return `${event.path}[${event.index}] begins`;
    case "question_asked":
      return `${event.path} asks: ${event.text}`;
    case "answered":
      return `${event.path} was answered${event.by ? ` by ${event.by}` : ""}: ${said(event.answer)}${event.comment ? ` (${event.comment})` : ""}`;
    case "approved":
      return `${event.path} was approved${event.by ? ` by ${event.by}` : ""} (${event.given} of ${event.needed})${event.comment ? `: ${event.comment}` : ""}`;
    case "consented":
      return `${event.path} is allowed by ${event.rule}`;
    case "hint_given":
      return `${event.path} was told${event.by ? ` by ${event.by}` : ""}: ${event.text}`;
    case "budget_changed":
      return `limits were changed${event.by ? ` by ${event.by}` : ""}: ${changed(event.change)}`;
    case "consent_revoked":
      return `consent was revoked${event.by ? ` by ${event.by}` : ""}`;
    case "wait_started":
      return event.signal === undefined ? `${event.path} sleeps` : `${event.path} waits for the signal ${event.signal}`;
    case "step_ended":
      return `${event.path} ${event.end.status}${event.end.tolerated ? ", and the run continues" : ""}`;
    case "rewound":
      return `${event.path} goes back to ${event.to}`;
    case "limit_reached":
      return `the limit on ${event.limit} was reached`;
    case "unit_stopped":
      return `${event.path} was ended by its limit: ${event.why}`;
    case "cancel_requested":
      return `is being cancelled${event.reason ? `: ${event.reason}` : ""}`;
    case "paused":
      return "paused: nothing new starts";
    case "unpaused":
      return "continues";
    case "run_stopped":
      return `stopped${event.by ? ` by ${event.by}` : ""}; no engine continues it until somebody resumes it`;
    case "run_resumed":
      return "resumed";
    case "reopened":
      return `starts again${event.from ? ` from ${event.from}` : ""}; finished steps are kept`;
    case "plan_replaced": {
      const counts = `${event.kept?.length ?? 0} steps kept, ${event.again?.length ?? 0} again`;
      return `continues with a changed workflow${event.by ? ` by ${event.by}` : ""}: ${counts}`;
    }
    case "result_kept":
      return `${event.path} keeps its ${event.unfinished ? "conversation" : "result"}${event.was ? ` (was ${event.was})` : ""}`;
    case "run_finished":
      return `the run is over: ${event.outcome}${event.message ? `, ${event.message}` : ""}`;
    case "timer_fired":
      return `the timer ${String(event["timer"])} fired`;
    case "signalled":
      return `the signal ${String(event["name"])} arrived`;
    case "routed":
      return `${String(event["path"])} continues with ${String(event["to"])}`;
    case "signal_refused":
    case "refused":
      return `${String(event["what"] ?? event["name"])} was refused: ${String(event["why"])}`;
    default:
      return unknown(event as unknown as Unknown);
  }
}

function left(carried?: { commit: string }): string {
  return carried ? `rebuilt on another machine, ${from(carried)}` : "given up";
}

function from({ commit }: { commit: string }): string {
  return `from commit ${commit.slice(0, 10)}`;
}

type Unknown = { event: string; path?: unknown; host?: unknown };

/** An event of a later version: its name, and what it is about. */
function unknown({ event, path, host }: Unknown): string {
  const about = typeof path === "string" ? `${path}: ` : "";
  return `${about}${event.replaceAll("_", " ")}${typeof host === "string" ? `, on ${host}` : ""}`;
}

function nth(attempt: number): string {
  return attempt > 1 ? `, attempt ${attempt}` : "";
}

export const SKIPPED: Record<string, string> = {
  when: "its `when` is false",
  run_if: "its `run_if` is false",
  route: "another path was chosen",
  denied: "it was denied",
  upstream: "a step that it needs failed",
  cancelled: "the run was cancelled",
};

function said(answer: unknown): string {
  if (typeof answer === "string") return { approve: "yes", skip: "continue without it", timed_out: "nobody answered in time" }[answer] ?? answer;
  const [kind, fields] = Object.entries(answer as Record<string, { reason?: string; value?: unknown }>)[0] ?? ["", {}];
  if (kind === "deny") return fields.reason ? `no, ${fields.reason}` : "no";
  return kind === "edit" ? "yes, with another value" : JSON.stringify(fields.value);
}

/** Limits as they are from now on: `usd 5, steps 20`. */
function changed(change: Record<string, { to?: number; by?: number }>): string {
  const limit = ([name, { to, by }]: [string, { to?: number; by?: number }]) =>
    name === "duration_ms" ? `duration ${duration(to ?? by ?? 0)}` : `${name} ${to ?? `+${by}`}`;
  return Object.entries(change).map(limit).join(", ");
}
