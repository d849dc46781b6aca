import { describe, expect, it } from "vitest";
import { onRun, stage } from "./stage";

/** A step that the server does until it is let go, and one that only a worker with a label does. */
export const APART = `name: apart
steps:
  - {id: near, run: "while ! test -e go; do sleep 0.1; done"}
  - {id: far, run: "printf far", runs_on: gpu}
`;

describe("a run of several workers", () => {
  const at = stage({ prepare: (longhaul) => longhaul.write("apart", APART) });
  const run = onRun(at);
  const workers = () => at.page.getByRole("link", { name: "Workers", exact: true }).first().click();

  it("says what nobody can do, until somebody comes who can, and then who did it", async () => {
    await workers();
    const server = at.page.locator("article[data-worker]");
    await server.getByText("ready", { exact: true }).waitFor();
    await at.page.goto(at.longhaul.url("/workflows/apart"));
    await run.button("Run it").click();
    await at.page.getByRole("dialog").getByRole("button", { name: "Run it", exact: true }).click();
    await run.status("far", "waiting");
    await at.page.getByText("waits for a worker with the label gpu; no such worker is there").waitFor();
    const id = run.id();

    await workers();
    await server.getByRole("link", { name: "near" }).waitFor();
    await at.page.getByRole("heading", { name: "No worker can do this" }).waitFor();
    await at.page.getByText("longhaul worker --labels gpu", { exact: true }).waitFor();
    at.longhaul.worker("bert", "--labels", "gpu", "--slots", "2");
    await at.page.locator('article[data-worker="bert"]').getByText("0 of 2 slots busy").waitFor();
    await at.page.getByRole("heading", { name: "No worker can do this" }).waitFor({ state: "detached" });

    await run.open(id);
    await run.status("far", "succeeded");
    await run.card("far").getByText("by bert", { exact: true }).waitFor();
    at.longhaul.let("go");
    await run.whole("succeeded");
    expect(at.longhaul.events(id)).toContainEqual(expect.objectContaining({ event: "attempt_claimed", path: "far", worker: "bert" }));
    expect(at.complaints).toEqual([]);
  });
});
