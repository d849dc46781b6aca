// Highlights YAML, line by line.

export type Piece = { kind: "key" | "comment" | "text" | "value" | "template" | "plain"; text: string };

const RULES: readonly [Piece["kind"], RegExp][] = [
  ["comment", /^#.*/],
  ["template", /^\{\{.*?\}\}/],
  ["key", /^[\w.$-]+(?=\s*:(?:\s|$))/],
  ["text", /^"(?:\\.|[^"\\])*"|^'(?:''|[^'])*'/],
  ["value", /^(?:-?\d+(?:\.\d+)?|true|false|null)(?=[\s,\]}]|$)/],
  ["plain", /^(?:[\w./#-]+|\s+|.)/],
];

export function pieces(line: string): Piece[] {
  const found: Piece[] = [];
  let rest = line;
  while (rest) {
    const piece = next(rest, found.at(-1));
    rest = rest.slice(piece.text.length);
    const before = found.at(-1);
    if (before?.kind === "plain" && piece.kind === "plain") before.text += piece.text;
    else found.push(piece);
  }
  return found;
}

function next(rest: string, before: Piece | undefined): Piece {
  for (const [kind, rule] of RULES) {
    const text = rule.exec(rest)?.[0];
    // A `#` inside a word does not start a comment.
    if (text && !(kind === "comment" && before && !/\s$/.test(before.text))) return { kind, text };
  }
  return { kind: "plain", text: rest };
}
