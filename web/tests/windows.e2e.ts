// Several windows of one browser share one connection.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { stage } from "./stage";

describe("several windows", () => {
  const at = stage();
  const watched = async () => (await at.server.control({ run: "release-1" })).watched;
  const isRunning = (page: Page) => page.locator('article[data-path="plan"][data-status="running"]').waitFor();
  const waits = (page: Page) => page.locator('article[data-path="go"][data-status="waiting"]').waitFor();
  const more = async (count: number, prepare: (page: Page) => Promise<void> = async () => {}): Promise<Page[]> => {
    const pages: Page[] = [];
    for (let n = 0; n < count; n += 1) {
      const page = await at.page.context().newPage();
      await prepare(page);
      await page.goto(at.server.url("/runs/release-1"));
      await isRunning(page);
      pages.push(page);
    }
    return pages;
  };
  /** A browser that lacks something. */
  const without =
    (...names: string[]) =>
    async (page: Page) => {
      await page.addInitScript((names) => {
        for (const name of names) Object.defineProperty(name === "locks" ? Navigator.prototype : window, name, { value: undefined });
      }, names);
    };

  it("are one to the server, and each hears what happens", async () => {
    const pages = await more(5);
    await expect.poll(watched).toBe(1);
    await at.server.control({ run: "release-1", commits: 1 });
    for (const page of pages) await waits(page);
    for (const page of pages) await page.close();
    await expect.poll(watched).toBe(0);
    expect(at.complaints).toEqual([]);
  });

  it("share the connection of one of them where there are no shared workers, and the next one leads when it goes", async () => {
    await at.page.close();
    const [first, second, third] = (await more(3, without("SharedWorker"))) as [Page, Page, Page];
    await expect.poll(watched).toBe(1);
    await first.close();
    await expect.poll(watched).toBe(1);
    await at.server.control({ run: "release-1", commits: 1 });
    await waits(second);
    await waits(third);
  });

  it("have connections of their own where nothing can be shared", async () => {
    const pages = await more(2, without("SharedWorker", "BroadcastChannel", "locks"));
    await expect.poll(watched).toBe(2);
    await at.server.control({ run: "release-1", commits: 1 });
    for (const page of pages) await waits(page);
  });
});
