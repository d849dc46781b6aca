import { describe, expect, it } from "vitest";
import type { RunsFilter } from "./queries";
import type { RunRow, Status } from "./types";
import { withRow } from "./useFeed";

const row = (run: string, started_at: number, status: Status = "running"): RunRow => ({
  run,
  workflow: "w",
  status,
  standing: { is: "running" },
  updated_at: 0,
  summary: { task: "Do it", done: 0, started_at, usd: 0 },
});

const list = { pages: [{ runs: [row("c", 30), row("b", 20)], next: "b" }, { runs: [row("a", 10)] }], pageParams: [undefined, "b"] };
const runs = (change: RunRow, filter: RunsFilter = {}) =>
  withRow(list, change, filter).pages.map((page) => page.runs.map((run) => `${run.run}:${run.status}`).join(" "));

describe("a row that arrives", () => {
  it("takes the place of the one that is known, on whatever page", () => {
    expect(runs(row("a", 10, "failed"))).toEqual(["c:running b:running", "a:failed"]);
  });

  it("stands where its start belongs if it is new", () => {
    expect(runs(row("d", 40))).toEqual(["d:running c:running b:running", "a:running"]);
    expect(runs(row("bc", 25))).toEqual(["c:running bc:running b:running", "a:running"]);
    expect(runs(row("old", 5))).toEqual(["c:running b:running", "a:running"]);
  });

  it("leaves a list that it does not fit any more, and never enters one", () => {
    expect(runs(row("b", 20, "failed"), { status: ["running"] })).toEqual(["c:running", "a:running"]);
    expect(runs(row("d", 40), { workflow: "other" })).toEqual(["c:running b:running", "a:running"]);
    expect(runs(row("d", 40), { text: "DO IT" })[0]).toBe("d:running c:running b:running");
  });
});
