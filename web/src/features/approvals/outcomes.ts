// The results of answers. They stay after the question is gone, so that the user can read them.

import type { ApiError } from "../../api/client";
import type { CommandOutcome, Problem } from "../../api/types";
import { capital, moment } from "../../ui/format";

/** An answer that was given on this page, and its result. */
export interface Outcome {
  run: string;
  path: string;
  tone: "good" | "bad";
  text: string;
}

/** The key of the list among the queries. */
export const OUTCOMES = ["outcomes"];

/** The number of results that are kept; the user has read older ones. */
const KEPT = 5;

/** What happens to a run, in words for a page, without commands. */
const FOLLOWS: Record<string, string> = {
  continues: "The run continues.",
  needs_engine: "No engine is running it: start a worker, or resume it.",
  waits: "The run waits for something else.",
  paused: "The run is paused.",
  stopped: "The run is stopped.",
  client: "Its client continues with the next steps.",
  succeeded: "The run succeeded",
  failed: "The run failed",
  cancelled: "The run was cancelled",
  stored: "No engine has applied it yet.",
};

/** The result of an applied answer: the run continues, or something else follows. */
export function applied({ run, step, outcome, then, message }: CommandOutcome): Outcome {
  const follows = FOLLOWS[then] ?? "";
  const why = message ? `: ${message}` : "";
  const done = then === "stored" ? "Stored" : capital(outcome);
  const tone = then === "failed" || then === "cancelled" ? "bad" : "good";
  return { run, path: step ?? "", tone, text: `${done}. ${follows.endsWith(".") ? follows : `${follows}${why}.`}` };
}

/** The result of an answer that was rejected because another person was first; `undefined` for any other error. */
export function tooLate(run: string, path: string, { problem }: Pick<ApiError, "problem">): Outcome | undefined {
  const { first } = problem;
  if (!first) return undefined;
  const who = first.by ? capital(first.by) : "Somebody";
  return { run, path, tone: "bad", text: `Your answer was not applied. ${who} ${first.what} it at ${moment(first.at)}.` };
}

/** The list with one more result, newest first; one line per question. */
export function added(list: Outcome[] | undefined, outcome: Outcome): Outcome[] {
  const others = (list ?? []).filter(({ run, path }) => run !== outcome.run || path !== outcome.path);
  return [outcome, ...others].slice(0, KEPT);
}

/** Whether an error says that another person was first. */
export function isTooLate(problem: Problem | undefined): boolean {
  return problem?.first !== undefined;
}
