// Reads Markdown as a tree of blocks. The tree has no HTML: what is not Markdown is text.

import { type Inline, inlines, plainText } from "./inline";

export type Block =
  | { kind: "paragraph"; inside: Inline[] }
  | { kind: "heading"; level: number; inside: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

const DEPTH_MAX = 8;
/** A longer text is not read as Markdown. */
export const CHARS_MAX = 200_000;
const COLUMNS_MAX = 40;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,6})([-*+]|\d{1,9}[.)])( {1,4}|\t|$)/;
const DELIMITERS = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

export function parse(text: string): Block[] {
  if (text.length > CHARS_MAX) return [{ kind: "code", language: "", text }];
  return blocks(text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n"), 0);
}

/** The first words of a text, on one line, without marks. */
export function oneLine(text: string, most = 200): string {
  const words = parse(text.slice(0, most * 4)).map(wordsOf);
  const line = words.join(" ").replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

function wordsOf(block: Block): string {
  switch (block.kind) {
    case "code":
      return block.text;
    case "quote":
      return block.blocks.map(wordsOf).join(" ");
    case "list":
      return block.items.map((item) => item.map(wordsOf).join(" ")).join(", ");
    case "table":
      return block.head.map(plainText).join(" ");
    case "rule":
      return "";
    default:
      return plainText(block.inside);
  }
}

/** Signs of Markdown; a text with none of them is shown as it is. */
const SIGNS = [/^#{1,6} \S/m, /^ {0,3}```/m, /\*\*[^\s*][^\n*]{0,200}\*\*/, /^ *(?:[-*+]|\d+[.)]) \S.*\n+ *(?:[-*+]|\d+[.)]) \S/m, /^\|.*\|\s*\n\|[\s:|-]+\|/m, /\[[^\]\n]{1,200}\]\(https?:/];
const DIFF = /^(?:@@ |diff --git |--- \S|\+\+\+ \S)/m;
const LOOKED_AT = 8_000;

/** Whether a text was probably written as Markdown. */
export function isMarkdown(text: string): boolean {
  const start = text.slice(0, LOOKED_AT);
  return !DIFF.test(start) && SIGNS.some((sign) => sign.test(start));
}

function blocks(lines: string[], depth: number): Block[] {
  const out: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = oneBlock(lines, at, depth);
    if (block) out.push(block);
    at = next;
  }
  return out;
}

type Found = [Block | undefined, number];

function oneBlock(lines: string[], at: number, depth: number): Found {
  const line = lines[at] ?? "";
  if (line.trim() === "") return [undefined, at + 1];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence[1] ?? "```", fence[2] ?? "");
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: "heading", level: heading[1]?.length ?? 1, inside: inlines(heading[2] ?? "") }, at + 1];
  if (RULE.test(line)) return [{ kind: "rule" }, at + 1];
  if (depth < DEPTH_MAX && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < DEPTH_MAX && ITEM.test(line)) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at, depth);
}

function code(lines: string[], at: number, fence: string, language: string): Found {
  let end = at + 1;
  const closes = (line: string) => line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim());
  while (end < lines.length && !closes(lines[end] ?? "")) end += 1;
  return [{ kind: "code", language, text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function quote(lines: string[], at: number, depth: number): Found {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? "")) end += 1;
  const inside = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [{ kind: "quote", blocks: blocks(inside, depth + 1) }, end];
}

function list(lines: string[], at: number, depth: number): Found {
  const first = ITEM.exec(lines[at] ?? "");
  const isOrdered = /\d/.test(first?.[2] ?? "");
  const margin = first?.[1]?.length ?? 0;
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const found = ITEM.exec(lines[next] ?? "");
    if (!found || /\d/.test(found[2] ?? "") !== isOrdered || (found[1]?.length ?? 0) < margin || RULE.test(lines[next] ?? "")) break;
    const end = itemEnd(lines, next, found);
    items.push(blocks(itemLines(lines.slice(next, end), found[0].length), depth + 1));
    next = end;
  }
  return [{ kind: "list", ordered: isOrdered, start: Number.parseInt(first?.[2] ?? "1", 10) || 1, items }, next];
}

/** The line after an item: the next one that is neither indented nor goes on with its text. */
function itemEnd(lines: string[], at: number, found: RegExpExecArray): number {
  const margin = (found[1]?.length ?? 0) + 2;
  let end = at + 1;
  let wasBlank = false;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    if (line.trim() === "") {
      wasBlank = true;
      continue;
    }
    const isInside = line.length - line.trimStart().length >= margin;
    if (!isInside && (wasBlank || startsBlock(lines, end))) break;
    wasBlank = false;
  }
  return end;
}

function itemLines(lines: string[], width: number): string[] {
  const [first = "", ...rest] = lines;
  const text = first.slice(width).replace(/^\[ \] /, "☐ ").replace(/^\[[xX]\] /, "☑ ");
  return [text, ...rest.map((line) => line.slice(Math.min(width, line.length - line.trimStart().length)))];
}

function startsBlock(lines: string[], at: number): boolean {
  const line = lines[at] ?? "";
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((start) => start.test(line)) || isTable(lines, at);
}

function isTable(lines: string[], at: number): boolean {
  const [head = "", delimiters = ""] = [lines[at], lines[at + 1]];
  return head.includes("|") && delimiters.includes("-") && delimiters.length < 2_000 && DELIMITERS.test(delimiters);
}

function table(lines: string[], at: number): Found {
  const head = cells(lines[at] ?? "");
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => cells(line).slice(0, head.length));
  return [{ kind: "table", head, rows }, end];
}

function cells(line: string): Inline[][] {
  const inner = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  const parts = inner.split(/(?<!\\)\|/).slice(0, COLUMNS_MAX);
  return parts.map((cell) => inlines(cell.trim().replaceAll("\\|", "|")));
}

function paragraph(lines: string[], at: number, depth: number): Found {
  let end = at + 1;
  // Beyond the deepest level, marks of lists and quotes are text.
  const ends = (at: number) => (depth < DEPTH_MAX ? startsBlock(lines, at) : FENCE.test(lines[at] ?? ""));
  while (end < lines.length && (lines[end] ?? "").trim() !== "" && !ends(end)) end += 1;
  const text = lines.slice(at, end).map((line) => line.trim());
  return [{ kind: "paragraph", inside: inlines(text.join("\n")) }, end];
}
