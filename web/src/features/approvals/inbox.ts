// Which question of the inbox is open.

import type { Question } from "../../api/types";

/** The identity of a question: a step may ask again later. */
export function keyOf({ run, path, asked_at }: Pick<Question, "run" | "path" | "asked_at">): string {
  return `${run} ${path} ${asked_at}`;
}

/** First the questions that the user can answer, longest open first. */
export function sorted<Q extends Pick<Question, "here">>(questions: Q[]): Q[] {
  return [...questions.filter(({ here }) => here.ok), ...questions.filter(({ here }) => !here.ok)];
}

/** The question to open next: the first one that is not open. */
export function nextKey(questions: Pick<Question, "run" | "path" | "asked_at">[], open: string | undefined): string | undefined {
  return questions.map(keyOf).find((key) => key !== open);
}

/** The place in the list after a key was pressed. */
export function movedTo(at: number, by: number, length: number): number {
  if (length === 0) return -1;
  if (at < 0) return by > 0 ? 0 : length - 1;
  return Math.min(Math.max(at + by, 0), length - 1);
}
