// The possible answers to a question, by its kind.

import type { Answer, Question } from "../../api/types";
import { capital } from "../../ui/format";

export interface Choice {
  title: string;
  answer: Answer;
  look: "main" | "plain" | "danger";
}

/** The look of each choice about a machine: waiting is harmless. */
const LOOKS: Record<string, Choice["look"]> = { wait: "main", cancel: "danger" };

/** The answers that need no typing. */
export function choicesFor({ kind, choices = [], needed }: Question): Choice[] {
  // If several people must agree, only yes and no are possible.
  if (needed) return [{ title: "Approve", answer: "approve", look: "main" }];
  const own = choices.map((choice): Choice => ({ title: choice, answer: { value: { value: choice } }, look: "plain" }));
  switch (kind) {
    case "approval":
    case "consent":
    case "review":
      return [{ title: "Approve", answer: "approve", look: "main" }, ...own];
    case "operator":
      return [
        { title: "Try again", answer: "approve", look: "main" },
        { title: "Continue without it", answer: "skip", look: "plain" },
        ...own.filter(({ title }) => !["retry", "skip", "fail"].includes(title)),
      ];
    case "machine":
      return own.map(({ title, answer }) => ({ title: capital(title), answer, look: LOOKS[title] ?? "plain" }));
    case "question":
      return own;
  }
}

/** What a denial needs, if the question can be denied. */
export function denialFor({ kind }: Question): string | undefined {
  return kind === "question" || kind === "machine" ? undefined : kind === "operator" ? "Give up" : "Deny";
}

/** The meaning of a typed value, if the question accepts one. */
export function typedFor({ kind, choices = [], needed }: Question): { title: string; means: "edit" | "value" } | undefined {
  if (needed) return undefined;
  if (kind === "question") return choices.length ? undefined : { title: "Answer", means: "value" };
  if (kind === "review") return { title: "Use this instead", means: "edit" };
  return kind === "operator" ? { title: "Use this as the result", means: "edit" } : undefined;
}
