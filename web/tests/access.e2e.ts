// What a machine can tell of whether everybody can use the pages: names, roles, contrast, order.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { stage } from "./stage";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  id: string;
  help: string;
  nodes: { html: string }[];
}
declare const axe: { run(options: object): Promise<{ violations: Finding[] }> };

/** A node's name begins with its title, and then has kind and status in place of the details that are shown. */
const RULES = { rules: { "label-content-name-mismatch": { enabled: false } } };

const PAGES = [
  "/runs",
  "/runs/release-1?step=plan",
  "/runs/release-0?tab=summary",
  "/runs/release-0?tab=timeline",
  "/runs/release-0?tab=search",
  "/runs/release-0?tab=log",
  "/runs/release-0?tab=picture",
  "/runs/release-1?tab=files",
  "/runs/interview-0",
  "/runs/nightly-1",
  "/workflows",
  "/workflows/release",
  "/workflows/broken",
  "/approvals",
  "/workers",
  "/nowhere",
];

describe.each([
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
] as const)("everybody, at $width pixels, $colorScheme", ({ width, height, colorScheme }) => {
  const at = stage({ width, height, options: ["--forms"] });
  const axeOf = async (path: string): Promise<string[]> => {
    // The policy of the pages forbids scripts inside them; the debugger may run one all the same.
    await at.page.evaluate(AXE);
    const { violations } = await at.page.evaluate((rules) => axe.run(rules), RULES);
    return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${path}: ${id}: ${help}: ${html.slice(0, 200)}`));
  };

  it("can use every page", async () => {
    await at.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const found: string[] = [];
    for (const path of PAGES) {
      await at.page.goto(at.server.url(path));
      await at.page.locator("main h1, main [role=alert]").first().waitFor({ state: "attached" });
      found.push(...(await axeOf(path)));
    }
    expect(found).toEqual([]);
    // Every page in one test; each takes seconds on a busy machine.
  }, 240_000);

  it("can use forms with errors, reviews and the field for a token", async () => {
    await at.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await at.page.goto(at.server.url("/approvals"));
    const found: string[] = [];
    const row = (text: string) => at.page.locator("[data-row]").filter({ hasText: text });
    await row("What should the service be like?").click();
    for (const name of ["Add days", "Add owner", "Add one to tasks", "Answer"]) await at.page.getByRole("button", { name, exact: true }).click();
    found.push(...(await axeOf("form")));
    await at.page.getByRole("tab", { name: "JSON" }).click();
    found.push(...(await axeOf("JSON")));
    for (const text of ["<img src=x", "Are these findings right?", "Release it to everybody?", "failed 3 times"]) {
      await row(text).click();
      found.push(...(await axeOf(text)));
    }
    await at.page.context().clearCookies();
    await at.page.goto(at.server.url("/login?token=wrong"));
    await at.page.getByText("This token is not valid.").waitFor();
    found.push(...(await axeOf("token")));
    expect(found).toEqual([]);
  }, 240_000);
});
