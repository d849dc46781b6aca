// Large runs, many windows, many runs at once: the binary in front of a real browser.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { type Longhaul, onRun, stage } from "./stage";

/** Lanes of steps beside each other. In the middle, one asks a person. */
function lanes(longhaul: Longhaul, name: string, width: number, length: number): void {
  const asks = Math.floor((width * length) / 2);
  const step = (_: unknown, at: number) => {
    const after = at < width ? "" : `, depends_on: [s${at - width}]`;
    return `  - {id: s${at}, ${at === asks ? "approve: 'Go on?'" : "run: 'true'"}${after}}`;
  };
  longhaul.write(name, `name: ${name}\nlimits: {steps: 100000}\nsteps:\n${Array.from({ length: width * length }, step).join("\n")}\n`);
}

/** Whether a node of the picture can be seen and read. */
async function isSeen(page: Page, name: string): Promise<boolean> {
  const [paper, node] = [await page.locator(".react-flow").boundingBox(), await page.locator(".react-flow__node").getByRole("button", { name }).boundingBox()];
  if (!paper || !node) return false;
  const inside = node.x >= paper.x && node.y >= paper.y && node.x + node.width <= paper.x + paper.width && node.y + node.height <= paper.y + paper.height;
  // A step is 190 wide; below two thirds of that, nobody reads its name.
  return inside && node.width > 120;
}

describe("a large run", () => {
  const at = stage({
    once: true,
    prepare: (longhaul) => {
      lanes(longhaul, "sixty", 8, 8);
      lanes(longhaul, "many", 25, 20);
      longhaul.park("sixty", "Sixty-four steps", "sixty-1");
      longhaul.park("many", "Five hundred steps", "many-1");
    },
  });
  const run = onRun(at);

  it("of 64 steps opens where it waits, and moves to a chosen step", async () => {
    await run.open("sixty-1");
    await expect.poll(() => isSeen(at.page, "s32, approve, waiting")).toBe(true);
    const [first] = [run.card("s1")];
    await first.locator("button[aria-expanded]").first().click();
    await expect.poll(() => isSeen(at.page, "s1, run, succeeded")).toBe(true);
    expect(at.complaints).toEqual([]);
  });

  it("of 500 steps folds what is done, follows, and opens what is folded", async () => {
    await run.open("many-1");
    await expect.poll(() => isSeen(at.page, "s250, approve, waiting")).toBe(true);
    await at.page.getByRole("button", { name: /steps done/ }).waitFor();
    const drawn = await at.page.locator(".react-flow__node").count();
    expect(drawn).toBeLessThan(60);
    await at.page.goto(at.longhaul.url("/runs/many-1?step=s3"));
    await expect.poll(() => isSeen(at.page, "s3, run, succeeded")).toBe(true);
    expect(at.complaints).toEqual([]);
  });

  it("shows when each step was running", async () => {
    await run.open("many-1", "?tab=timeline");
    await at.page.getByRole("list", { name: "Steps over time" }).getByRole("listitem").first().waitFor();
    expect(await at.page.getByRole("list", { name: "Steps over time" }).getByRole("listitem").count()).toBeLessThan(80);
    await at.page.getByRole("button", { name: "Show less time, larger" }).click();
    await at.page.getByText("2×").waitFor();
    expect(await at.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  });

  it("can be read on a phone", async () => {
    await at.page.setViewportSize({ width: 390, height: 844 });
    for (const tab of ["steps", "timeline", "picture", "search", "summary"]) {
      await run.open("many-1", `?tab=${tab}`);
      await at.page.getByRole("tab", { selected: true }).waitFor();
      expect(await at.page.evaluate(() => document.documentElement.scrollWidth), tab).toBeLessThanOrEqual(390);
    }
    await run.open("many-1", "?tab=picture");
    await expect.poll(() => isSeen(at.page, "s250, approve, waiting")).toBe(true);
  });
});

describe("many windows", () => {
  const at = stage({ prepare: (longhaul) => longhaul.write("slow", "name: slow\nsteps:\n  - {id: wait, run: 'while [ ! -e go ]; do sleep 0.1; done'}\n  - {id: after, depends_on: [wait], run: echo over}\n") });

  it("share one connection: five are usable, and hear what happens in each other", async () => {
    const { run } = await at.page.evaluate(async () => {
      const headers = { "X-Longhaul": "1", "Content-Type": "application/json", "Idempotency-Key": "five" };
      return (await fetch("/api/v1/runs", { method: "POST", headers, body: JSON.stringify({ workflow: "slow", task: "Five windows" }) })).json() as Promise<{ run: string }>;
    });
    const windows = [at.page, ...(await Promise.all(Array.from({ length: 4 }, () => at.page.context().newPage())))];
    for (const page of windows) {
      await page.goto(at.longhaul.url(`/runs/${run}`));
      await page.locator('article[data-path="wait"][data-status="running"]').waitFor();
    }
    await (windows[4] as Page).getByRole("button", { name: "Pause", exact: true }).click();
    for (const page of windows) await page.locator("main header [data-status=paused]").first().waitFor();
    await (windows[0] as Page).getByRole("button", { name: "Continue", exact: true }).click();
    // A hidden window does not watch its run, but its title says how it ended.
    const hidden = windows[3] as Page;
    await hidden.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await (windows[1] as Page).locator("main header [data-status=running]").first().waitFor();
    at.longhaul.let("go");
    for (const page of windows) await expect.poll(() => page.title()).toContain("succeeded");
    const streams = await at.page.evaluate(async () => (await (await fetch("/metrics")).text()).match(/longhaul_streams (\d+)/)?.[1]);
    // The list and the run, for all five.
    expect(Number(streams)).toBeLessThanOrEqual(2);
  });
});

describe("a burst of five hundred runs", () => {
  const at = stage({ prepare: (longhaul) => longhaul.write("quick", "name: quick\nsteps:\n  - {id: only, run: 'true'}\n") });

  it("is shown whole, without a reload", async () => {
    await at.page.getByText("Nothing has run yet").waitFor();
    await at.page.evaluate(async () => {
      const start = (at: number) => {
        const headers = { "X-Longhaul": "1", "Content-Type": "application/json", "Idempotency-Key": `burst-${at}` };
        return fetch("/api/v1/runs", { method: "POST", headers, body: JSON.stringify({ workflow: "quick", task: `Number ${at}` }) });
      };
      for (let at = 0; at < 500; at += 5) await Promise.all([0, 1, 2, 3, 4].map((more) => start(at + more)));
    });
    await expect.poll(() => at.page.locator('[aria-label="Runs"] [role=listitem]').first().getAttribute("aria-setsize"), { timeout: 50_000 }).toBe("500");
    await at.page.getByLabel("Totals").getByText("500 runs").waitFor();
    await at.page.getByLabel("Totals").getByText("500 succeeded").waitFor({ timeout: 50_000 });
    await at.page.getByRole("button", { name: "running", exact: true }).click();
    await at.page.getByText("No run matches").waitFor();
    expect(at.complaints).toEqual([]);
  }, 180_000);
});
