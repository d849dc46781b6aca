// Reads the inside of a paragraph: emphasis, code and links. Everything else is text, also HTML.
//
// **Invariant:** the time grows with the length of the text, whatever it contains. A mark without an end is looked for once.

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "break" }
  | { kind: "strong" | "em" | "del"; inside: Inline[] }
  | { kind: "link"; href: string; inside: Inline[]; isImage?: true };

const DEPTH_MAX = 6;
const LABEL_MAX = 400;
const ADDRESS_MAX = 2_000;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const ADDRESS = /https?:\/\/[^\s<>"'`|\\^{}[\]]{1,1999}/y;

/** The address of a link, if it leads to a web page; nothing for every other scheme. */
export function webAddress(text: string): string | undefined {
  if (text.length > ADDRESS_MAX || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}

export function inlines(text: string, depth = 0): Inline[] {
  return new Scanner(text, depth).all();
}

const MARKS = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
] as const;

class Scanner {
  private readonly out: Inline[] = [];
  private readonly missing = new Set<string>();
  private at = 0;
  private from = 0;

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {}

  all(): Inline[] {
    while (this.at < this.text.length) {
      const found = this.special(this.text.charAt(this.at));
      if (!found) this.at += 1;
    }
    this.flush(this.text.length);
    return this.out;
  }

  /** Puts the text before a position out. */
  private flush(to: number): void {
    if (to > this.from) this.out.push({ kind: "text", text: this.text.slice(this.from, to) });
  }

  private put(found: Inline, end: number): true {
    this.flush(this.at);
    this.out.push(found);
    this.at = end;
    this.from = end;
    return true;
  }

  private special(sign: string): boolean {
    switch (sign) {
      case "\n":
        return this.put({ kind: "break" }, this.at + 1);
      case "\\":
        return this.escape();
      case "`":
        return this.code();
      case "[":
        return this.link(this.at, undefined);
      case "!":
        return this.text.charAt(this.at + 1) === "[" && this.link(this.at + 1, true);
      case "h":
        return this.address();
      case "*":
      case "_":
      case "~":
        return MARKS.some(([mark, kind]) => this.emphasis(mark, kind));
      default:
        return false;
    }
  }

  private escape(): boolean {
    const next = this.text.charAt(this.at + 1);
    return PUNCTUATION.test(next) && this.put({ kind: "text", text: next }, this.at + 2);
  }

  private code(): boolean {
    let end = this.at;
    while (this.text.charAt(end) === "`") end += 1;
    const ticks = this.text.slice(this.at, end);
    const close = this.closing(ticks, end, (at) => this.text.charAt(at - 1) !== "`" && this.text.charAt(at + ticks.length) !== "`");
    if (close < 0) {
      this.at = end;
      return true;
    }
    const inside = this.text.slice(end, close).replaceAll("\n", " ");
    return this.put({ kind: "code", text: /^ .* $/.test(inside) ? inside.slice(1, -1) : inside }, close + ticks.length);
  }

  /** The end of what a mark opens, or -1. A mark that has no end from here has none later. */
  private closing(mark: string, from: number, fits: (at: number) => boolean): number {
    if (this.missing.has(mark)) return -1;
    for (let at = this.text.indexOf(mark, from); at >= 0; at = this.text.indexOf(mark, at + mark.length)) {
      if (fits(at)) return at;
    }
    this.missing.add(mark);
    return -1;
  }

  private emphasis(mark: string, kind: "strong" | "em" | "del"): boolean {
    const { text, at } = this;
    const start = at + mark.length;
    if (!text.startsWith(mark, at) || this.depth >= DEPTH_MAX || isSpace(text.charAt(start)) || text.charAt(start) === mark.charAt(0)) return false;
    if (mark.startsWith("_") && isWord(text.charAt(at - 1))) return false;
    const close = this.closing(mark, start + 1, (end) => {
      const alone = mark.length > 1 || (text.charAt(end + 1) !== mark && text.charAt(end - 1) !== mark);
      return alone && !isSpace(text.charAt(end - 1)) && !(mark.startsWith("_") && isWord(text.charAt(end + mark.length)));
    });
    if (close < 0) return false;
    return this.put({ kind, inside: inlines(text.slice(start, close), this.depth + 1) }, close + mark.length);
  }

  private link(open: number, isImage: true | undefined): boolean {
    const label = this.text.slice(open + 1, open + LABEL_MAX);
    const close = label.search(/\]\(|\n/);
    if (close < 0 || label.charAt(close) === "\n") return false;
    const start = open + 1 + close + 2;
    const rest = this.text.slice(start, start + ADDRESS_MAX);
    const end = rest.search(/[)\s]/);
    const href = end > 0 && rest.charAt(end) === ")" ? webAddress(rest.slice(0, end)) : undefined;
    if (href === undefined) return false;
    const words = label.slice(0, close);
    const inside: Inline[] = this.depth < DEPTH_MAX && !isImage ? inlines(words, DEPTH_MAX) : [{ kind: "text", text: words }];
    return this.put({ kind: "link", href, inside: inside.map(unlinked), ...(isImage ? { isImage } : {}) }, start + end + 1);
  }

  private address(): boolean {
    if (isWord(this.text.charAt(this.at - 1))) return false;
    ADDRESS.lastIndex = this.at;
    const found = ADDRESS.exec(this.text)?.[0].replace(/[.,;:!?)*_~]+$/, "");
    const href = found && webAddress(found);
    if (!found) return false;
    if (href) return this.put({ kind: "link", href, inside: [{ kind: "text", text: found }] }, this.at + found.length);
    this.at += found.length;
    return true;
  }
}

/** A link inside the words of another one is text. */
function unlinked(one: Inline): Inline {
  return one.kind === "link" ? { kind: "text", text: plainText(one.inside) } : one;
}

function isSpace(sign: string): boolean {
  return sign === "" || /\s/.test(sign);
}

function isWord(sign: string): boolean {
  return /[\p{L}\p{N}_]/u.test(sign);
}

/** The words without marks. */
export function plainText(inside: Inline[]): string {
  return inside.map((one) => ("inside" in one ? plainText(one.inside) : one.kind === "break" ? " " : one.text)).join("");
}
