// The people of a question: who may answer, who has approved, and who is missing.

import type { Question } from "../../api/types";
import { count } from "../../ui/format";

type Rule = Pick<Question, "approvals" | "needed" | "approved" | "here">;

/** The progress of a question that several people must approve. */
export function progressOf({ needed, approved = [] }: Pick<Question, "needed" | "approved">): string | undefined {
  if (!needed) return undefined;
  const names = approved.map(({ by }) => by).join(", ");
  return `${approved.length} of ${needed} approvals${names ? `, approved by ${names}` : ""}`;
}

function fromOf(approvals: Question["approvals"]): string | string[] | undefined {
  if (approvals === undefined || typeof approvals === "string" || Array.isArray(approvals)) return approvals;
  return approvals.from;
}

function isForOthers(approvals: Question["approvals"]): boolean {
  return approvals !== undefined && typeof approvals === "object" && !Array.isArray(approvals) && approvals.not_starter === true;
}

/** Whose approvals are missing, in words; nothing if one answer is enough. */
export function missingOf({ approvals, needed, approved = [] }: Rule): string | undefined {
  const left = (needed ?? 0) - approved.length;
  if (left <= 0) return undefined;
  const from = fromOf(approvals);
  const others = isForOthers(approvals) ? ", not the person who started the run" : "";
  if (Array.isArray(from)) {
    const names = from.filter((name) => !approved.some(({ by }) => by === name));
    const list = names.join(", ");
    return `${names.length === left ? `Missing: ${list}` : `Missing: ${left} of ${list}`}${others}`;
  }
  const role = from?.startsWith("role:") ? ` with the role ${from.slice(5)}` : "";
  return `Missing: ${count(left, "more person", "more people")}${role}${others}`;
}

/** Who may answer, in a few words for a list. */
export function whoMay({ approvals, here }: Rule): string {
  if (here.ok) return "you can answer";
  const from = fromOf(approvals);
  if (Array.isArray(from)) return from.join(", ");
  if (from?.startsWith("role:")) return `role ${from.slice(5)}`;
  return here.override ? "its owner, or you in their place" : from === "anyone" ? "somebody else" : "its owner";
}

/** Whether a person has approved; they may still deny. */
export function hasApproved({ approved = [] }: Rule, user: string | undefined): boolean {
  return user !== undefined && approved.some(({ by }) => by === user);
}
