// Notices of the browser, the title and the icon.

import { describe, expect, it } from "vitest";
import { stage } from "./stage";

/** A browser that writes down what it is asked for and shows. */
function fake(): void {
  const shown: object[] = [];
  let asked = 0;
  class Fake {
    static permission = "default";
    static requestPermission() {
      asked += 1;
      Fake.permission = "granted";
      return Promise.resolve("granted");
    }
    onclick: (() => void) | undefined;
    constructor(title: string, { body, tag }: { body?: string; tag?: string }) {
      shown.push({ title, body, tag });
      Object.assign(window, { last: this });
    }
    close() {}
  }
  Object.assign(window, { Notification: Fake, notices: { shown, asked: () => asked } });
}

interface Faked {
  notices: { shown: { title: string; body: string }[]; asked: () => number };
  last: { onclick: () => void };
}

describe("notices", () => {
  const at = stage();
  const shown = () => at.page.evaluate(() => (window as unknown as Faked).notices.shown.map(({ title, body }) => `${title}: ${body}`));
  const look = (looks: boolean) =>
    at.page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, !looks);

  it("are asked for by a button alone, and come when a run asks or ends while nobody looks", async () => {
    await at.page.addInitScript(fake);
    await at.page.goto(at.server.url("/runs"));
    await at.page.locator("[data-run=release-1]").waitFor();
    await at.page.getByRole("link", { name: "Approvals, 2 open" }).waitFor();
    expect(await at.page.evaluate(() => (window as unknown as Faked).notices.asked())).toBe(0);
    await at.page.getByRole("button", { name: "Turn on notifications" }).click();
    await at.page.getByRole("button", { name: "Notifications are on" }).waitFor();
    await look(false);
    await at.server.control({ run: "release-1", commits: 1 });
    await expect.poll(shown).toEqual(["Greet everybody who comes in asks: Start 3 tasks for 1.4.0?"]);
    await expect.poll(() => at.page.title()).toBe("(3) Runs · Longhaul");
    expect(await at.page.locator("link[rel=icon]").getAttribute("href")).toContain("data:image/svg+xml");
    await at.server.control({ run: "interview-0", happen: [{ event: "run_finished", outcome: "failure", message: "the disk is full" }] });
    await expect.poll(shown, { timeout: 10_000 }).toContainEqual(expect.stringMatching(/^A service that waves failed: /));
    await at.page.evaluate(() => (window as unknown as Faked).last.onclick());
    await at.page.waitForURL("**/runs/interview-0");
    await look(true);
    await at.page.getByRole("button", { name: "Notifications are on" }).click();
    await at.page.getByRole("button", { name: "Turn on notifications" }).waitFor();
    expect(at.complaints).toEqual([]);
  });
});
