import { describe, expect, it } from "vitest";
import { readFilter } from "./filter";
import { moments } from "./times";

describe("the filter for time", () => {
  it("goes from the start of a day to the end of another, also when clocks change", () => {
    const { since = 0, until = 0 } = moments({ from: "2026-03-28", to: "2026-03-30" }, 0);
    expect([new Date(since).getDate(), new Date(since).getHours()]).toEqual([28, 0]);
    expect([new Date(until).getDate(), new Date(until).getHours()]).toEqual([31, 0]);
  });

  it("does not change each second for the recent past", () => {
    const now = Date.UTC(2026, 10, 16, 12, 3, 20);
    expect(moments({ time: "day" }, now)).toEqual(moments({ time: "day" }, now + 30_000));
    expect(now - (moments({ time: "hour" }, now).since ?? 0)).toBeLessThan(3_660_001);
    expect(moments({}, now)).toEqual({});
  });

  it("is read from the address, and what is no day is left out", () => {
    expect(readFilter({ time: "week", from: "2026-01-01", to: "tomorrow" })).toEqual({ time: "week", from: "2026-01-01" });
    expect(readFilter({ time: "ever", from: "2026-13-01", status: "failed" })).toEqual({ status: ["failed"] });
  });
});
