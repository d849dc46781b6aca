import { describe, expect, it } from "vitest";
import { wasDone } from "./useCommand";

describe("a command whose answer was lost", () => {
  it("was done if the run is no longer where it was", () => {
    expect([wasDone("pause", "paused"), wasDone("pause", "running"), wasDone("pause", "succeeded")]).toEqual([true, false, true]);
    expect([wasDone("retry", "running"), wasDone("retry", "failed")]).toEqual([true, false]);
    expect([wasDone("cancel", "cancelled"), wasDone("cancel", "stopped")]).toEqual([true, false]);
    expect([wasDone("resume", "stopped"), wasDone("unpause", "waiting")]).toEqual([false, true]);
  });
});
