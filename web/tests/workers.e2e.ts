import { describe, expect, it } from "vitest";
import { NOBODY } from "../fixtures/workers.mjs";
import { stage } from "./stage";

describe("workers", () => {
  const at = stage();
  const card = (name: string) => at.page.locator(`article[data-worker="${name}"]`);
  const open = async () => {
    await at.page.getByRole("link", { name: "Workers" }).click();
    await at.page.getByRole("heading", { name: "Workers", level: 1 }).waitFor();
  };

  it("are shown with what they can do and hold, and lead to the run", async () => {
    await open();
    await at.page.getByText("2 workers, 1 of 20 slots busy, 1 silent").waitFor();
    await card("alpha-4711").getByText("working").waitFor();
    await card("bert").getByText("0 of 16 slots busy").waitFor();
    expect(await card("bert").getByRole("list", { name: "Labels" }).getByRole("listitem").allTextContents()).toContain("big");
    await card("gamma-12").getByText("silent for 6m").waitFor();
    await card("gamma-12").getByText("Its steps run again when its lease has ended").waitFor();
    await at.page.getByRole("region", { name: "Done by commands" }).getByRole("link", { name: "outline" }).waitFor();
    await card("alpha-4711").getByRole("link", { name: "plan" }).click();
    await at.page.getByTestId("run-id").waitFor();
    expect(new URL(at.page.url()).pathname + new URL(at.page.url()).search).toBe("/runs/release-1?step=plan");
    expect(at.complaints).toEqual([]);
  });

  it("are told apart from what nobody can do, and what helps is said", async () => {
    await open();
    const stuck = at.page.locator("div", { has: at.page.getByRole("heading", { name: "No worker can do this" }) }).last();
    await stuck.getByText("longhaul worker --labels gpu", { exact: true }).waitFor();
    expect(await stuck.getByRole("link").allTextContents()).toEqual(["notes"]);
    const queued = at.page.locator("div", { has: at.page.getByRole("heading", { name: "Waits for a free slot" }) }).last();
    expect(await queued.getByRole("link").allTextContents()).toEqual(["build"]);
  });

  it("come and go without a reload, and where there are none the page says how to start one", async () => {
    await open();
    await card("bert").waitFor();
    await at.server.control({ run: "release-1", roster: NOBODY });
    await at.page.getByRole("heading", { name: "No worker is running" }).waitFor();
    await at.page.getByText("longhaul worker", { exact: true }).waitFor();
    expect(await card("bert").count()).toBe(0);
    await at.server.control({ run: "release-1", roster: {} });
    await card("bert").waitFor();
  });
});

describe("a run of several machines", () => {
  const at = stage();
  const notes = () => at.page.locator('article[data-path="notes"][data-status]');
  const happens = (...happen: object[]) => at.server.control({ run: "release-1", happen });

  it("says what waits for whom, who took it where, and what became of the machine", async () => {
    await at.page.goto(at.server.url("/runs/release-1"));
    await at.page.locator('article[data-path="plan"][data-status="running"]').waitFor();
    await happens({ event: "attempt_started", path: "notes", attempt: 1, queued: ["gpu"] });
    await notes().getByText("waits for a worker", { exact: true }).waitFor();
    await happens({ event: "attempt_claimed", path: "notes", attempt: 1, worker: "bert", host: "beta" });
    await notes().getByText("on beta", { exact: true }).waitFor();
    await notes().getByText("running", { exact: true }).waitFor();
    await notes().getByText("by bert on beta", { exact: true }).waitFor();
    await happens({ event: "host_missed", host: "beta", since: Date.now() - 720_000 }, { event: "moon_risen", host: "beta" });
    await at.page.getByRole("tab", { name: "Log" }).click();
    for (const line of [
      "notes waits for a worker with the label gpu",
      "notes was taken by bert on beta",
      "the machine beta has been silent for 12m, and the files of the run are on it",
      "moon risen, on beta",
    ])
      await at.page.getByText(line, { exact: true }).waitFor();
    expect(at.complaints).toEqual([]);
  });
});
