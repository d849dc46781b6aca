// What is worth a notice: a question that is new, and a run that has ended.

import type { Question, RunRow, Status } from "../../api/types";
import { oneLine } from "../../ui/markdown/parse";
import { count } from "../../ui/format";

export interface Notice {
  /** Two notices with the same tag are one; other tabs of this browser show the same. */
  tag: string;
  title: string;
  body: string;
  /** The run to open, and its step. */
  run?: string;
  step?: string;
}

/** More notices than this at once become one. */
const TOGETHER_MAX = 3;

const BODY_MAX = 160;

/** The questions that were not known before; at the first look, all are known. */
export function asked(known: ReadonlySet<string> | undefined, questions: Question[]): Notice[] {
  if (!known) return [];
  const fresh = questions.filter((question) => !known.has(question.shown + question.run));
  if (fresh.length > TOGETHER_MAX) return [{ tag: "longhaul-questions", title: `${fresh.length} questions wait for a person`, body: "" }];
  return fresh.map(({ run, path, task, workflow, text, shown }) => ({
    tag: `longhaul-${run}-${shown}`,
    title: `${task || workflow} asks`,
    body: oneLine(text, BODY_MAX),
    run,
    step: path,
  }));
}

export function knownOf(questions: Question[]): Set<string> {
  return new Set(questions.map((question) => question.shown + question.run));
}

const ENDS: Partial<Record<Status, string>> = { succeeded: "succeeded", failed: "failed", cancelled: "was cancelled" };

/** How much the clocks of the server and of the browser may differ. */
const SKEW_MS = 60_000;

/** Whether a row says that its run ended, after the page began to look. */
export function hasEnded(row: RunRow, before: Status | undefined, since: number): boolean {
  if (!ENDS[row.status] || row.status === before) return false;
  // A run that was not known may have ended long ago.
  return before !== undefined || (row.summary.ended_at ?? row.updated_at) >= since - SKEW_MS;
}

/** The notices about runs that ended at about the same time. */
export function ended(rows: RunRow[]): Notice[] {
  if (rows.length > TOGETHER_MAX) {
    const parts = Object.entries(ENDS).flatMap(([status, words]) => {
      const n = rows.filter((row) => row.status === status).length;
      return n ? [`${n} ${words}`] : [];
    });
    return [{ tag: "longhaul-ended", title: `${count(rows.length, "run")} ended`, body: parts.join(", ") }];
  }
  return rows.map(({ run, workflow, status, updated_at, summary: { task, message } }) => ({
    tag: `longhaul-${run}-${status}-${updated_at}`,
    title: `${task || workflow} ${ENDS[status] ?? status}`,
    body: message ? oneLine(message, BODY_MAX) : run,
    run,
  }));
}
