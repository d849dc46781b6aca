import { describe, expect, it } from "vitest";
import { blocks } from "./blocks";

describe("a transcript", () => {
  it("joins the pieces of a text, and only those", () => {
    const found = blocks([
      { type: "text", text: "a" },
      { type: "text", text: "b", delta: true },
      { type: "text", text: "c" },
      { type: "thinking", text: "d" },
      { type: "text", text: "e", delta: true },
    ]);
    expect(found).toEqual([
      { kind: "text", text: "ab" },
      { kind: "text", text: "c" },
      { kind: "thinking", text: "d" },
      { kind: "text", text: "e" },
    ]);
  });

  it("puts the answer of a tool beside its call, whatever came between", () => {
    const found = blocks([
      { type: "tool_call", id: "1", name: "read", summary: "a.rs" },
      { type: "tool_call", id: "2", name: "run", summary: "make", input: { cmd: "make" } },
      { type: "tool_result", id: "2", ok: false, text: "no rule" },
      { type: "tool_result", id: "1", ok: true },
      { type: "tool_result", id: "9", ok: true },
    ]);
    expect(found).toEqual([
      { kind: "tool", id: "1", name: "read", summary: "a.rs", ok: true, text: "" },
      { kind: "tool", id: "2", name: "run", summary: "make", input: { cmd: "make" }, ok: false, text: "no rule" },
    ]);
  });

  it("says what was not allowed, and leaves out what is no news", () => {
    expect(blocks([{ type: "session", id: "s" }, { type: "denied", name: "rm" }, { type: "alive" }, { type: "result" }])).toEqual([
      { kind: "notice", text: "was not allowed to use rm" },
    ]);
  });
});
