import { describe, expect, it } from "vitest";
import { scale, ticks } from "./scale";

const HOUR = 3_600_000;

describe("the axis of time", () => {
  it("is straight if something always happens", () => {
    const axis = scale([{ from: 0, to: 600 }, { from: 500, to: 1_000 }], 0, 1_000);
    expect([axis.at(0), axis.at(250), axis.at(1_000), axis.gaps.length, axis.work]).toEqual([0, 0.25, 1, 0, 1_000]);
  });

  it("leaves out the night between an end and a retry, and does not count it as work", () => {
    const axis = scale([{ from: 0, to: 500 }, { from: 8 * HOUR, to: 8 * HOUR + 500 }], 0, 8 * HOUR + 500);
    expect(axis.gaps).toEqual([{ from: 500, to: 8 * HOUR }]);
    expect(axis.work).toBe(1_000);
    expect(axis.at(500)).toBeCloseTo(0.485);
    expect(axis.at(8 * HOUR)).toBeCloseTo(0.515);
    expect(axis.at(4 * HOUR)).toBeCloseTo(0.5);
    expect(axis.moment(axis.at(8 * HOUR + 250))).toBeCloseTo(8 * HOUR + 250);
  });

  it("leaves out what comes before the first and after the last step, but not a question that is open for days", () => {
    expect(scale([{ from: HOUR, to: HOUR + 10 }], 0, 2 * HOUR).gaps.length).toBe(2);
    const asked = scale([{ from: 0, to: 100 }, { from: 100 }], 0, 48 * HOUR);
    expect([asked.gaps.length, asked.work]).toEqual([0, 48 * HOUR]);
  });

  it("counts everything if there is no span, and takes no time at all", () => {
    expect(scale([], 0, 5 * HOUR).work).toBe(5 * HOUR);
    const nothing = scale([], 7, 7);
    expect([nothing.at(7), nothing.work]).toEqual([0, 0]);
    expect(ticks(nothing, 10).length).toBe(1);
  });

  it("keeps room for the work between a thousand gaps", () => {
    const spans = Array.from({ length: 1_000 }, (_, at) => ({ from: at * HOUR, to: at * HOUR + 60_000 }));
    const short = scale(spans.map(({ from }) => ({ from, to: from + 1 })), 0, 1_000 * HOUR);
    expect(short.gaps.length).toBe(1_000);
    expect(short.at(1) - short.at(0)).toBeGreaterThan(0.0005);
  });

  it("marks round times, few of them, and none inside a gap", () => {
    const axis = scale([{ from: 0, to: 10 * 60_000 }, { from: 100 * HOUR, to: 100 * HOUR + 60_000 }], 0, 100 * HOUR + 60_000);
    const marks = ticks(axis, 12);
    expect(marks.map(({ moment }) => moment / 60_000)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 6_000, 6_001]);
    const many = ticks(scale([{ from: 0 }], 0, 10_000 * HOUR), 10);
    expect(many.length).toBeLessThan(70);
  });
});
