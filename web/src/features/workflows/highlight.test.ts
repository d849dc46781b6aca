import { describe, expect, it } from "vitest";
import { pieces } from "./highlight";

const marked = (line: string) =>
  pieces(line)
    .filter((piece) => piece.kind !== "plain")
    .map(({ kind, text }) => `${kind} ${text}`);

describe("YAML in colours", () => {
  it("knows keys, texts, values, templates and comments", () => {
    expect(marked('  - {id: go, max: 3, when: "a # b", run: echo {{ x.y }}} # why')).toEqual([
      "key id",
      "key max",
      "value 3",
      "key when",
      'text "a # b"',
      "key run",
      "template {{ x.y }}",
      "comment # why",
    ]);
  });

  it("does not take parts of words for something", () => {
    expect(marked("go#2 http://a:80/x 12ab")).toEqual([]);
  });

  it("loses nothing", () => {
    for (const line of ["", "  ", "a: 'it''s' \"x\\\"y\" {{", "\tü: [1, -2.5, true]"])
      expect(
        pieces(line)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(line);
  });
});
