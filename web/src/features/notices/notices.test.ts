import { describe, expect, it } from "vitest";
import type { Question, RunRow } from "../../api/types";
import { asked, ended, hasEnded, knownOf } from "./notices";

const question = (n: number) => ({ run: `r-${n}`, path: "go", task: `Task ${n}`, workflow: "w", text: "**Release** it?", shown: `h${n}` }) as Question;
const row = (n: number, status: RunRow["status"], more: object = {}) =>
  ({ run: `r-${n}`, workflow: "w", status, updated_at: n, summary: { task: `Task ${n}`, done: 0, started_at: 0, usd: 0, ended_at: 50, ...more } }) as RunRow;

describe("a notice about a question", () => {
  it("comes once, and not for what was there before", () => {
    expect(asked(undefined, [question(1)])).toEqual([]);
    const known = knownOf([question(1)]);
    expect(asked(known, [question(1)])).toEqual([]);
    expect(asked(known, [question(1), question(2)])).toEqual([{ tag: "longhaul-r-2-h2", title: "Task 2 asks", body: "Release it?", run: "r-2", step: "go" }]);
  });

  it("is one for many", () => {
    const many = [1, 2, 3, 4].map(question);
    expect(asked(new Set(), many).map(({ title }) => title)).toEqual(["4 questions wait for a person"]);
  });
});

describe("a notice about an end", () => {
  it("is for a run that ended while the page looked", () => {
    expect(hasEnded(row(1, "running"), undefined, 0)).toBe(false);
    expect(hasEnded(row(1, "failed"), "running", 100)).toBe(true);
    expect(hasEnded(row(1, "failed"), "failed", 0)).toBe(false);
    expect(hasEnded(row(1, "succeeded"), undefined, 100_000), "it ended before").toBe(false);
    expect(hasEnded(row(1, "succeeded"), undefined, 40), "too short to be seen before").toBe(true);
  });

  it("says how, and sums up a burst", () => {
    expect(ended([row(1, "failed", { message: "build: exit code 1" })])).toEqual([
      { tag: "longhaul-r-1-failed-1", title: "Task 1 failed", body: "build: exit code 1", run: "r-1" },
    ]);
    const many = [...[1, 2, 3].map((n) => row(n, "succeeded")), row(4, "failed")];
    expect(ended(many)).toEqual([{ tag: "longhaul-ended", title: "4 runs ended", body: "3 succeeded, 1 failed" }]);
  });
});
