import { describe, expect, it } from "vitest";
import { type Inline, webAddress } from "./inline";
import { type Block, isMarkdown, oneLine, parse } from "./parse";

/** A tree as text: `p(…)`. */
function inside(list: Inline[]): string {
  return list
    .map((one) => {
      if (one.kind === "text") return one.text;
      if (one.kind === "break") return "⏎";
      if (one.kind === "code") return `code(${one.text})`;
      if (one.kind === "link") return `${one.isImage ? "image" : "link"}(${inside(one.inside)} → ${one.href})`;
      return `${one.kind}(${inside(one.inside)})`;
    })
    .join("");
}
function one(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `p(${inside(block.inside)})`;
    case "heading":
      return `h${block.level}(${inside(block.inside)})`;
    case "code":
      return `pre(${block.text})`;
    case "quote":
      return `quote(${block.blocks.map(one).join(" ")})`;
    case "list":
      return `${block.ordered ? "ol" : "ul"}(${block.items.map((item) => item.map(one).join(" ")).join("; ")})`;
    case "table":
      return `table(${[block.head, ...block.rows].map((row) => row.map(inside).join(",")).join("; ")})`;
    case "rule":
      return "rule";
  }
}
const tree = (text: string) => parse(text).map(one).join(" ");

describe("Markdown", () => {
  it("is read", () => {
    expect(tree("**bold** and *soft* and `x * y` and ~~gone~~")).toBe("p(strong(bold) and em(soft) and code(x * y) and del(gone))");
    expect(tree("# One\ntext\nmore\n\n## Two ##")).toBe("h1(One) p(text⏎more) h2(Two)");
    expect(tree("- a\n- b\n  - c\n\n    more of c\n- d")).toBe("ul(p(a); p(b) ul(p(c) p(more of c)); p(d))");
    expect(tree("3. a\n4. b\n\ntext")).toBe("ol(p(a); p(b)) p(text)");
    expect(tree("- [ ] open\n- [x] done")).toBe("ul(p(☐ open); p(☑ done))");
    expect(tree("```js\nlet a = '**';\n```\nafter")).toBe("pre(let a = '**';) p(after)");
    expect(tree("> quoted\n> more\n\n---")).toBe("quote(p(quoted⏎more)) rule");
    expect(tree("| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 |")).toBe("table(a,b; 1,code(x|y); 2)");
  });

  it("leaves text alone that only looks like it", () => {
    expect(tree("2 * 3 * 4 and snake_case_name and a_b")).toBe("p(2 * 3 * 4 and snake_case_name and a_b)");
    expect(tree("\\*not\\* `open and **open")).toBe("p(*not* `open and **open)");
    expect(tree("#no-heading\n1.5 is a number\n-5 too")).toBe("p(#no-heading⏎1.5 is a number⏎-5 too)");
    expect(tree("__init__.py and **a*")).toBe("p(strong(init).py and *em(a))");
  });

  it("has links to web pages alone, with their address", () => {
    expect(tree("[docs](https://example.com/a) and https://example.com/b.")).toBe("p(link(docs → https://example.com/a) and link(https://example.com/b → https://example.com/b).)");
    for (const text of ["[x](javascript:alert(1))", "[x](data:text/html,1)", "[x](//evil.example)", "[x](/login)", "[x](vbscript:1)", "[x](JaVaScRiPt:1)", "[x]( https://a.b)", "[x](https://a b)"]) {
      expect(tree(text), text).not.toContain("link(x");
    }
    expect(webAddress("https://good.example@evil.example/")).toBe("https://good.example@evil.example/");
    expect(webAddress("https://аpple.com/")).toBe("https://xn--pple-43d.com/");
    expect(tree("![pixel](https://evil.example/p.png)")).toBe("p(image(pixel → https://evil.example/p.png))");
    expect(tree("[a https://other.example b](https://example.com/)")).toBe("p(link(a https://other.example b → https://example.com/))");
  });

  it("has no HTML", () => {
    expect(tree('<img src=x onerror=alert(1)>\n<script>alert(1)</script> <b>x</b> &lt;')).toBe("p(<img src=x onerror=alert(1)>⏎<script>alert(1)</script> <b>x</b> &lt;)");
  });

  it("ends quickly, whatever the text is", () => {
    const many = 20_000;
    const hostile = [
      "*".repeat(many),
      "**a ".repeat(many),
      "_a ".repeat(many),
      "`".repeat(many),
      Array.from({ length: 300 }, (_, n) => "`".repeat(n + 1)).join(" "),
      "[".repeat(many),
      "[a](".repeat(many),
      "![".repeat(many),
      "> ".repeat(many),
      "- ".repeat(many),
      Array.from({ length: 2_000 }, (_, n) => `${" ".repeat(n % 200)}- a`).join("\n"),
      "|".repeat(many),
      `a|b\n${"-|".repeat(900)}\n${"|".repeat(many)}`,
      "https://".repeat(many),
      `${"#".repeat(6)} ${"#".repeat(many)}`,
      "- - - ".repeat(many),
      `${"\\".repeat(many)}`,
      `${"~".repeat(many)}`,
      "*a **b ".repeat(many / 4),
    ];
    for (const text of hostile) {
      expect(parse(text).length, text.slice(0, 20)).toBeGreaterThan(0);
      isMarkdown(text);
      oneLine(text);
    }
    expect(parse("x".repeat(300_000))[0]?.kind).toBe("code");
  }, 20_000);
});

describe("a text of an unknown kind", () => {
  it("is Markdown if it shows signs of that", () => {
    expect(["# Report\n", "a **b** c", "- one\n- two", "|a|b|\n|-|-|", "see [x](https://a.b)", "```\n1\n```"].map(isMarkdown)).toEqual(Array(6).fill(true));
    expect(["plain", "a * b * c", "- only one", "diff --git a b\n--- a\n+++ b\n- x\n- y", "x**2", ""].map(isMarkdown)).toEqual(Array(6).fill(false));
  });

  it("has one line", () => {
    expect(oneLine("# Delete **it**?\n\n- `a`\n- b")).toBe("Delete it? a, b");
    expect(oneLine("x".repeat(500), 10)).toBe("xxxxxxxxxx…");
  });
});
