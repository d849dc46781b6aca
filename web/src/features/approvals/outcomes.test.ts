import { expect, it } from "vitest";
import { moment } from "../../ui/format";
import { added, applied, tooLate } from "./outcomes";

const outcome = { run: "r-1", outcome: "approved", step: "go", by: "kim", at: 1, seq: 4, then: "continues", text: "" };

it("says what was done and what follows", () => {
  expect(applied(outcome).text).toBe("Approved. The run continues.");
  expect(applied({ ...outcome, then: "needs_engine" }).text).toBe("Approved. No engine is running it: start a worker, or resume it.");
  const denied = { ...outcome, outcome: "denied", then: "failed", message: "too risky" };
  expect(applied(denied).text).toBe("Denied. The run failed: too risky.");
  expect(applied({ ...outcome, then: "stored" }).text).toBe("Stored. No engine has applied it yet.");
});

it("names who was first", () => {
  const problem = { type: "", title: "", status: 409, code: "LH0705", first: { what: "approved", by: "kim", at: 43_380_000 } };
  expect(tooLate("r-1", "go", { problem })?.text).toBe(`Your answer was not applied. Kim approved it at ${moment(43_380_000)}.`);
  expect(tooLate("r-1", "go", { problem: { ...problem, first: undefined } })).toBeUndefined();
});

it("keeps one line for each question, the newest first", () => {
  const line = (path: string, text: string) => ({ run: "r-1", path, tone: "good" as const, text });
  const list = ["a", "b", "a"].reduce((list, path, at) => added(list, line(path, String(at))), added(undefined, line("c", "x")));
  expect(list.map(({ path, text }) => path + text)).toEqual(["a2", "b1", "cx"]);
});
