import { describe, expect, it } from "vitest";
import { change, decided, fate, marks, type Row, sum } from "./fix";

const row = (more: Partial<Row>): Row => ({ step: "a", change: "same", fate: "kept", ...more }) as Row;

describe("the comparison", () => {
  it("says how a step differs", () => {
    expect(change(row({}))).toBe("");
    expect(change(row({ change: "changed", parts: ["command", "env"] }))).toBe("changed: command, env");
    expect(change(row({ change: "adjusted", parts: ["timeout"] }))).toBe("same result: timeout");
    expect(change(row({ change: "renamed", was: "build" }))).toBe("renamed (was build)");
  });

  it("says what follows, and for how many results", () => {
    expect(fate(row({ kept: 1 }))).toBe("kept");
    expect(fate(row({ kept: 2, unused: 1 }))).toBe("kept (2 of 3 results)");
    expect(fate(row({ fate: "again", again: 2, why: "it is changed" }))).toBe("runs again (2 results): it is changed");
  });

  it("adds up", () => {
    const rows = [row({}), row({ fate: "runs" }), row({ fate: "runs" })];
    expect(sum({ rows } as Parameters<typeof sum>[0])).toBe("1 step kept, 0 steps again, 2 steps to run");
  });
});

describe("findings", () => {
  it("mark a line with the worst of them", () => {
    const found = (line: number, severity: "error" | "warning", message: string) =>
      ({ line, severity, message }) as Parameters<typeof marks>[0][number];
    const marked = marks([found(2, "warning", "odd"), found(2, "error", "wrong"), found(3, "warning", "hm")]);
    expect([marked.get(2)?.message, marked.get(3)?.message, marked.get(1)]).toEqual(["wrong", "hm", undefined]);
  });
});

describe("decisions", () => {
  it("put a step on one side only", () => {
    const once = decided({ keep: [], again: [] }, "a", true);
    expect(once).toEqual({ keep: ["a"], again: [] });
    expect(decided(once, "a", false)).toEqual({ keep: [], again: ["a"] });
  });
});
