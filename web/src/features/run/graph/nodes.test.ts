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
    expect([all.get("tasks/cycle/check")?.status, all.get("tasks/cycle/check")?.paths.length, all.get("legacy")?.status]).toEqual([
      "failed",
      4,
      "skipped",
    ]);
    expect([first.get("tasks/cycle/check")?.status, first.get("tasks/cycle/check")?.paths]).toEqual([
      "succeeded",
      ["tasks[1]/cycle[1]/check"],
    ]);
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
