import { expect, it } from "vitest";
import type { Roster, Worker } from "../../api/types";
import { remedy } from "./remedy";
import { summed } from "./summed";

const worker = (change: Partial<Worker>): Worker => ({
  ...{ id: "1", name: "box", host: "", labels: [], slots: 4, busy: 1, version: "1", since: 0, seen: 0, silent: false, holds: [] },
  ...change,
});
const roster = (...workers: Worker[]): Roster => ({ now: 0, workers, others: [], waiting: [] });

it("counts those who are there, and not the slots of those who are not", () => {
  expect(summed(roster())).toBe("");
  expect(summed(roster(worker({ slots: 1 })))).toBe("1 worker, 1 of 1 slot busy");
  expect(summed(roster(worker({}), worker({ busy: 2 }), worker({ silent: true })))).toBe("2 workers, 3 of 8 slots busy, 1 silent");
  expect(summed(roster(worker({ silent: true })))).toBe("1 silent");
});

it("says where a worker is missing, and how it is started", () => {
  expect(remedy({ labels: [] })).toEqual({ where: "Start a worker:", command: "longhaul worker" });
  expect(remedy({ labels: ["gpu", "big"] })).toEqual({ where: "Start a worker:", command: "longhaul worker --labels gpu,big" });
  expect(remedy({ labels: ["macos"] })).toEqual({ where: "Start a worker on a machine with macos:", command: "longhaul worker" });
  const there = { where: "Start a worker on beta:", command: "longhaul worker --labels gpu" };
  expect(remedy({ labels: ["linux", "gpu"], host: "beta" })).toEqual(there);
});
