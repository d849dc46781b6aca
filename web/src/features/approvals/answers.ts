// What can be said to a question, kind by kind.

import type { Answer, Question } from "../../api/types";
import { capital } from "../../ui/format";

export interface Choice {
  title: string;
  answer: Answer;
  look: "main" | "plain" | "danger";
}

/** How what can be done about a machine is offered: waiting harms nothing. */
const LOOKS: Record<string, Choice["look"]> = { wait: "main", cancel: "danger" };

/** The answers that need nothing typed. */
export function choicesFor({ kind, choices = [] }: Question): Choice[] {
  const own = choices.map((choice): Choice => ({ title: choice, answer: { value: { value: choice } }, look: "plain" }));
  switch (kind) {
    case "approval":
    case "consent":
      return own.length
        ? own.map((choice, at) => ({ ...choice, look: at === 0 ? "main" : "plain" }))
        : [{ title: "Approve", answer: "approve", look: "main" }];
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

/** What it takes to say no, if that is an answer. */
export function denialFor({ kind }: Question): string | undefined {
  return kind === "question" || kind === "machine" ? undefined : kind === "operator" ? "Give up" : "Deny";
}

/** What a value that is typed means, if one can be. */
export function typedFor({ kind, choices = [] }: Question): { title: string; means: "edit" | "value" } | undefined {
  if (kind === "question") return choices.length ? undefined : { title: "Answer", means: "value" };
  if (kind === "review") return { title: "Use this instead", means: "edit" };
  return kind === "operator" ? { title: "Use this as the result", means: "edit" } : undefined;
}
