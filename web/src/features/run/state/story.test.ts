import { expect, it } from "vitest";
import type { Envelope } from "../../../api/events";
import { story } from "./story";

const told = (event: object) => story({ v: 1, seq: 1, at: 600_000, ...event } as Envelope);

it("tells which machine does what, and what is missed", () => {
  const step = { path: "train", attempt: 1 };
  expect(
    [
      { event: "attempt_started", ...step, host: "alpha" },
      { event: "attempt_started", ...step, attempt: 2, host: "alpha" },
      { event: "attempt_started", ...step, queued: [] },
      { event: "attempt_started", ...step, queued: ["gpu"] },
      { event: "attempt_started", ...step, queued: ["big", "gpu", "host:alpha"], attempt: 3 },
      { event: "attempt_claimed", ...step, worker: "bert", host: "beta" },
      { event: "attempt_claimed", ...step, worker: "beta-4711", host: "beta" },
      { event: "attempt_claimed", ...step, worker: "bert" },
      { event: "attempt_released", ...step },
      { event: "host_missed", host: "beta", since: 0 },
      { event: "host_left", host: "beta", by: "jane" },
      { event: "host_left", host: "beta", carried: { commit: "c0ffee1234567" } },
      { event: "host_seen", host: "beta" },
      { event: "files_rebuilt", ...step, host: "alpha", commit: "c0ffee1234567" },
      { event: "carry_failed", ...step, why: "no remote" },
      { event: "attempt_delayed", ...step, why: "no space is left" },
      { event: "attempt_delayed", ...step },
      { event: "imported", by: "jane" },
    ].map(told),
  ).toEqual([
    "train starts on alpha",
    "train starts on alpha, attempt 2",
    "train waits for a worker",
    "train waits for a worker with the label gpu",
    "train waits for a worker with the labels big, gpu on alpha, where the files of the run are, attempt 3",
    "train was taken by bert on beta",
    "train was taken by beta-4711",
    "train was taken by bert",
    "train waits for a worker again: the one that took it is gone",
    "nothing was heard of the machine beta for 10m, and the files of the run are there",
    "what comes next may be done on any machine: the files on beta are given up, says jane",
    "what comes next may be done on any machine: the files on beta are made again elsewhere, from commit c0ffee1234",
    "the machine beta is there again",
    "train: the files of the run were made again on alpha, from commit c0ffee1234",
    "train: the files it left could not be sent to where other machines find them: no remote",
    "train waits: no space is left",
    "train continues",
    "the run was brought back from an archive by jane",
  ]);
});

it("calls what it does not know by its name, and says what it is about", () => {
  expect(told({ event: "host_rebuilt", host: "beta" })).toBe("host rebuilt, on beta");
  expect(told({ event: "step_blessed", path: "a/b" })).toBe("a/b: step blessed");
  expect(told({ event: "moon_risen" })).toBe("moon risen");
});
