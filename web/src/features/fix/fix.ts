// What the dialog of "Fix and retry" shows: pure functions over what the server says.

import type { Made } from "../../api/made";
import type { Diagnostic } from "../../api/types";

export type Comparison = Made<"Comparison">;
export type Row = Comparison["rows"][number];
export type Source = Made<"Source">;
export type Replanned = Made<"Replanned">;

/** Steps that a person has decided about. */
export interface Choices {
  keep: string[];
  again: string[];
}

const FATES: Record<Row["fate"], string> = {
  kept: "kept",
  again: "runs again",
  runs: "runs",
  decides: "decides again",
  dropped: "dropped",
  asks: "your decision",
  nothing: "nothing",
};

/** How a step differs, in words; empty if it does not. */
export function change({ change, parts = [], was }: Row): string {
  const what = parts.length ? `: ${parts.join(", ")}` : "";
  const from = was ? ` (was ${was})` : "";
  if (change === "same") return from.trim();
  return `${change === "adjusted" ? "same result" : change}${what}${from}`;
}

/** What follows for a step, in words. */
export function fate({ fate, why, kept = 0, again = 0, unused = 0 }: Row): string {
  const all = kept + again + unused;
  const some = fate === "kept" ? kept : fate === "again" ? again : all;
  const counts = all < 2 ? "" : some < all ? ` (${some} of ${all} results)` : ` (${all} results)`;
  return `${FATES[fate]}${counts}${why ? `: ${why}` : ""}`;
}

/** One line about all steps. */
export function sum({ rows }: Comparison): string {
  const count = (fate: Row["fate"]) => rows.filter((row) => row.fate === fate).length;
  const steps = (n: number) => `${n} step${n === 1 ? "" : "s"}`;
  return `${steps(count("kept"))} kept, ${steps(count("again"))} again, ${steps(count("runs"))} to run`;
}

/** The worst finding of each line. */
export function marks(diagnostics: Diagnostic[]): Map<number, Diagnostic> {
  const marked = new Map<number, Diagnostic>();
  for (const found of diagnostics) {
    const known = marked.get(found.line);
    if (!known || (known.severity !== "error" && found.severity === "error")) marked.set(found.line, found);
  }
  return marked;
}

/** The same choices with a step on one side only. */
export function decided({ keep, again }: Choices, step: string, keeps: boolean): Choices {
  const without = (steps: string[]) => steps.filter((known) => known !== step);
  return { keep: keeps ? [...without(keep), step] : without(keep), again: keeps ? without(again) : [...without(again), step] };
}
