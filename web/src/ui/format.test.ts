import { describe, expect, it } from "vitest";
import { ago, awaited, bytes, count, duration, money, origin, sentence, short, tokens } from "./format";

describe("format", () => {
  it("writes durations in at most two units", () => {
    const written = [0, 120, 999, 3_449, 9_999, 10_000, 59_999, 60_000, 125_000, 3_600_000, 7_500_000, 90_000_000, 86_400_000].map(
      duration,
    );
    expect(written).toEqual(["0ms", "120ms", "999ms", "3.4s", "9.9s", "10s", "59s", "1m", "2m 5s", "1h", "2h 5m", "1d 1h", "1d"]);
  });

  it("makes sentences of what a command line would say", () => {
    expect(["started by root: answer there", "Wait.", "why?", ""].map(sentence)).toEqual(["Started by root: answer there.", "Wait.", "Why?", ""]);
  });

  it("writes small money with more digits than large money", () => {
    expect([0, 0.00001, 0.004, 0.0312, 0.05, 0.126, 12.5, 1234].map(money)).toEqual([
      "$0",
      "<$0.0001",
      "$0.004",
      "$0.0312",
      "$0.05",
      "$0.13",
      "$12.50",
      "$1234.00",
    ]);
  });

  it("shortens large numbers and nothing else", () => {
    expect([0, 940, 1_000, 5_210, 9_960, 31_400, 999_600, 1_430_000].map(short)).toEqual([
      "0",
      "940",
      "1k",
      "5.2k",
      "10k",
      "31k",
      "1M",
      "1.4M",
    ]);
    expect(tokens({ input_tokens: 5_200, output_tokens: 420, usd: 1 })).toBe("5.2k in, 420 out");
  });

  it("counts things", () => {
    expect([count(1, "step"), count(0, "step"), count(12_345, "run")]).toEqual(["1 step", "0 steps", "12,345 runs"]);
    expect([10, 2_048, 3_670_016].map(bytes)).toEqual(["10 B", "2 KiB", "3.5 MiB"]);
  });

  it("says how long ago", () => {
    expect([0, 4_999, 5_000, 61_000, 7_300_000, 200_000_000].map((ms) => ago(0, ms))).toEqual([
      "just now",
      "just now",
      "5s ago",
      "1m ago",
      "2h ago",
      "2d ago",
    ]);
  });

  it("says who and what for", () => {
    expect(awaited(["approval", "timer"])).toBe("an approval and a moment");
    expect([
      origin({ face: "cli", user: "jane" }),
      origin({ face: "mcp", user: "jane", client: "Editor" }),
      origin({ face: "trigger" }),
    ]).toEqual(["jane at the command line", "Editor", "a trigger"]);
  });
});
