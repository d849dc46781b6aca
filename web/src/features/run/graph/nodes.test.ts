import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Step } from "../../../api/types";
import { nodeStates, Places, turnCounts } from "./nodes";

const { picture, snapshots } = JSON.parse(readFileSync("fixtures/recorded/release-1.json", "utf8"));
const flat = (steps: Step[]): Step[] => steps.flatMap((step) => [step, ...flat(step.steps ?? [])]);
const steps = flat(snapshots.at(-1).steps);
const places = new Places(picture.graph);

describe("places in the picture", () => {
  it("are found for every step of a recorded run", () => {
    expect(steps.filter((step) => !places.of(step.path)).map((step) => step.path)).toEqual([]);
  });

  it("go through loops, branches and sub-workflows", () => {
    const found = ["tasks[1]/cycle[0]/check", "risky[0]/audit", "risky[1]/relax", "announce/sure", "announce", "nowhere/x"].map((path) =>
      places.of(path),
    );
    expect(
      found.map((place) => place && `${place.key} ${place.turns.map(({ key, index }) => `${key}=${index}`).join(" ")}`.trim()),
    ).toEqual(["tasks/cycle/check tasks=1 tasks/cycle=0", "risky:then/audit", "risky:else/relax", "@1/sure", "announce", undefined]);
  });

  it("show what matters most, or the turn that is looked at", () => {
    const all = nodeStates(places, steps, new Map());
    const first = nodeStates(
      places,
      steps,
      new Map([
        ["tasks", 1],
        ["tasks/cycle", 1],
      ]),
    );
    // The first round of one item failed, and the second one fixed it.
    expect([all.get("tasks/cycle/check")?.status, all.get("tasks/cycle/check")?.paths.length, all.get("legacy")?.status]).toEqual([
      "succeeded",
      4,
      "skipped",
    ]);
    expect([first.get("tasks/cycle/check")?.status, first.get("tasks/cycle/check")?.paths]).toEqual([
      "succeeded",
      ["tasks[1]/cycle[1]/check"],
    ]);
  });

  it("take the last round of each item, whichever comes first", () => {
    const step = (path: string, status: "failed" | "succeeded") => ({ path, status });
    const fixed = [step("tasks[0]/cycle[1]/check", "succeeded"), step("tasks[0]/cycle[0]/check", "failed")];
    const status = (...steps: ReturnType<typeof step>[]) => nodeStates(places, steps, new Map()).get("tasks/cycle/check")?.status;
    expect(status(...fixed)).toBe("succeeded");
    expect(status(...fixed, step("tasks[1]/cycle[0]/check", "failed"))).toBe("failed");
    const looked = nodeStates(places, fixed, new Map([["tasks/cycle", 0]]));
    expect(looked.get("tasks/cycle/check")?.status).toBe("failed");
  });

  it("count turns", () => {
    expect([
      ...turnCounts(
        places,
        steps.map((step) => step.path),
      ),
    ]).toEqual([
      ["tasks", 3],
      ["tasks/cycle", 2],
    ]);
  });
});
