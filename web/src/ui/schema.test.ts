import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { choicesOf, fieldKind, typed, written } from "./schema";

describe("what people type", () => {
  it("is asked for in the way its schema suggests", () => {
    const schemas: (Json | undefined)[] = [
      undefined,
      { type: "string" },
      { enum: ["a", 1] },
      { type: "boolean" },
      { type: "integer" },
      { type: "array" },
      {},
    ];
    expect(schemas.map(fieldKind)).toEqual(["text", "text", "choice", "boolean", "number", "json", "json"]);
    expect(choicesOf({ enum: ["a", 1] })).toEqual(["a", "1"]);
  });

  it("becomes a value", () => {
    expect(typed({ type: "string" }, "8080")).toEqual({ value: "8080" });
    expect(typed({ type: "integer" }, " 8080 ")).toEqual({ value: 8080 });
    expect(typed({ enum: ["a", 1] }, "1")).toEqual({ value: 1 });
    expect(typed({ type: "boolean" }, "false")).toEqual({ value: false });
    expect(typed({ type: "array" }, "[1]")).toEqual({ value: [1] });
    expect(typed({}, "just text")).toEqual({ value: "just text" });
  });

  it("is refused with a sentence", () => {
    const wrong = [
      typed({ type: "integer" }, ""),
      typed({ type: "integer" }, "1.5"),
      typed({ type: "number", maximum: 3 }, "4"),
      typed({ type: "integer", minimum: 1 }, "0"),
      typed({ type: "object" }, "{"),
    ];
    expect(wrong.map((found) => ("wrong" in found ? found.wrong.slice(0, 20) : found))).toEqual([
      "This should be a num",
      "This should be a who",
      "This should be at mo",
      "This should be at le",
      "This should be JSON:",
    ]);
  });

  it("starts as the default reads", () => {
    expect([undefined, "x", true, { a: 1 }].map(written)).toEqual(["", "x", "true", '{\n  "a": 1\n}']);
  });
});
