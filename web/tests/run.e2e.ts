import { describe, expect, it } from "vitest";
import { stage } from "./stage";

describe("a run", () => {
  const at = stage();
  const card = (path: string) => at.page.locator(`article[data-path="${path}"][data-status]`);
  const node = (name: string) => at.page.locator(".react-flow__node").getByRole("button", { name });
  const open = async (run = "release-1") => {
    await at.page.goto(at.server.url(`/runs/${run}`));
    await at.page.getByTestId("run-id").waitFor();
  };
  const status = (path: string, word: string) => at.page.locator(`article[data-path="${path}"][data-status="${word}"]`).waitFor();
  /** To the question that is asked last. */
  const toTheEnd = async () => {
    await at.server.control({ run: "release-1", commits: 1 });
    await at.page.getByRole("button", { name: "Approve", exact: true }).click();
    await status("go", "succeeded");
    await at.server.control({ run: "release-1", commits: 40 });
  };

  it("changes as events arrive, in the list and in the picture", async () => {
    await open();
    await status("plan", "running");
    await node("Plan the release, prompt, running").waitFor();
    await at.server.control({ run: "release-1", commits: 1 });
    await status("plan", "succeeded");
    await status("go", "waiting");
    await node("Plan the release, prompt, succeeded").waitFor();
    await at.page.getByRole("heading", { name: "Why it waits" }).waitFor();
    expect(at.complaints).toEqual([]);
  });

  it("streams what an agent says, once, also over a reload", async () => {
    await open();
    const say = (text: string, delta = true) =>
      at.server.control({ run: "release-1", say: { path: "plan", attempt: 1, entry: { type: "text", text, delta } } });
    // The current step is open by itself.
    await card("plan").getByText("before I plan anything.").waitFor();
    await say("Now I", false);
    await say(" think.");
    await card("plan").getByText("Now I think.", { exact: true }).waitFor();
    await at.page.reload();
    await card("plan").getByText("Now I think.", { exact: true }).waitFor();
    await say(" And stop.");
    await card("plan").getByText("Now I think. And stop.", { exact: true }).waitFor();
  });

  it("shows what an agent says as Markdown, and runs nothing of it", async () => {
    await open();
    const text = "**Done**, see `a.ts` <img src=x onerror='window.pwned = 1'>";
    await at.server.control({ run: "release-1", say: { path: "plan", attempt: 1, entry: { type: "text", text, delta: false } } });
    const said = at.page.getByRole("list", { name: "What it said and did" });
    await said.locator("strong").getByText("Done").waitFor();
    expect(await said.locator("img").count()).toBe(0);
    expect(await at.page.evaluate(() => "pwned" in window)).toBe(false);
  });

  it("leads from why it waits to the form that answers", async () => {
    await open();
    await at.server.control({ run: "release-1", commits: 1 });
    const question = at.page.getByRole("article", { name: "Approval: Start 3 tasks for 1.4.0?" });
    await question.waitFor();
    await at.page.getByRole("button", { name: /go/ }).and(at.page.locator("main li button")).first().click();
    expect(await question.evaluate((card) => card === document.activeElement)).toBe(true);
    const box = await question.getByRole("button", { name: "Approve", exact: true }).boundingBox();
    expect(box && box.y > 0 && box.y + box.height < 900).toBe(true);
  });

  it("is answered where it asks", async () => {
    await open();
    await at.server.control({ run: "release-1", commits: 1 });
    const question = at.page.getByRole("article", { name: "Approval: Start 3 tasks for 1.4.0?" });
    await question.getByRole("button", { name: "Approve", exact: true }).click();
    await question.waitFor({ state: "detached" });
    await status("go", "succeeded");
    await status("tasks[0]/cycle[0]/work", "running");
  });

  it("is denied with a reason", async () => {
    await open();
    await at.server.control({ run: "release-1", commits: 1 });
    await at.page.getByRole("button", { name: "Deny" }).click();
    await at.page.getByLabel("The reason (optional)").fill("not today");
    await at.page.getByRole("button", { name: "Deny" }).click();
    await at.page.getByText("go was denied: not today").waitFor();
    await at.page.locator("main [data-status=cancelled]").first().waitFor();
  });

  it("says whose a question is, and lets it be answered in their place", async () => {
    await open("interview-1");
    await at.page.getByText("This question belongs to Claude Code (session s-1)").waitFor();
    await at.page.getByRole("button", { name: "Answer in place of the owner" }).click();
    await at.page.getByLabel("Your answer").fill("70000");
    await at.page.getByRole("button", { name: "Answer", exact: true }).click();
    await at.page.getByText("This must be at most 65535.").waitFor();
    await at.page.getByLabel("Your answer").fill("8080");
    await at.page.getByRole("button", { name: "Answer", exact: true }).click();
    await status("port", "succeeded");
  });

  it("is the same after a reload in the middle", async () => {
    // Only what is on the screen is there; so all of it has to be.
    await at.page.setViewportSize({ width: 1440, height: 3000 });
    await open();
    await toTheEnd();
    await status("announce/sure", "waiting");
    const seen = async () =>
      at.page
        .locator("article[data-path][data-status]")
        .evaluateAll((cards) => cards.map((card) => `${card.getAttribute("data-path")} ${card.getAttribute("data-status")}`));
    // What may still come is known with the snapshot that brings the question.
    await at.page.getByRole("article", { name: "Approval: Send this?" }).waitFor();
    const before = await seen();
    await at.page.reload();
    await status("announce/sure", "waiting");
    expect(await seen()).toEqual(before);
  });

  it("misses nothing and doubles nothing when the server is killed and comes back", async () => {
    await open();
    await at.page.getByRole("tab", { name: "Log" }).click();
    await at.page.getByText("plan starts").waitFor();
    await at.server.kill();
    await at.page.getByText("not live: reconnecting").waitFor();
    await at.server.start();
    await at.server.control({ run: "release-1", commits: 1 });
    await at.page.getByText("go asks: Start 3 tasks for 1.4.0?").first().waitFor();
    await at.page.getByRole("button", { name: "Approve", exact: true }).click();
    await at.page.getByText("tasks has 3 items").waitFor();
    const numbers = await at.page.getByRole("log").locator("p > span:first-child").allTextContents();
    expect(numbers.map(Number)).toEqual(numbers.map((_, n) => n + 1));
    expect(numbers.length).toBe(14);
  });

  it("is not watched by a page that nobody sees, and is right when somebody looks", async () => {
    await open();
    await status("plan", "running");
    const see = (seen: boolean) =>
      at.page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, !seen);
    await expect.poll(async () => (await at.server.control({ run: "release-1" })).watched).toBe(1);
    await see(false);
    await expect.poll(async () => (await at.server.control({ run: "release-1" })).watched).toBe(0);
    await at.server.control({ run: "release-1", commits: 1 });
    await see(true);
    await status("go", "waiting");
  });

  it("looks at one turn of a loop when asked to", async () => {
    await open("release-0");
    await card("tasks[1]/cycle[0]/check").waitFor();
    await at.page.getByRole("group", { name: "Which item of tasks" }).getByRole("button", { name: "item 2" }).click();
    await card("tasks[2]/cycle[0]/work").waitFor();
    await card("tasks[1]/cycle[0]/check").waitFor({ state: "detached" });
    await node("check, run, succeeded").waitFor();
  });

  it("shows the steps of a sub-workflow when asked to", async () => {
    await open("release-0");
    await node("announce, workflow, succeeded").waitFor();
    expect(await node("draft, run").count()).toBe(0);
    await at.page.getByRole("button", { name: "steps of announce" }).click();
    await node("draft, run, succeeded").waitFor();
  });

  it("shows what failed, folds the rest, and is told to continue", async () => {
    await open("nightly-1");
    await card("build").getByText("error: the linker was killed").last().waitFor();
    await card("build").getByText("Raw output").click();
    await card("build").getByText("compiling").first().waitFor();
    await at.page.getByRole("button", { name: "Retry", exact: true }).click();
    await at.page.getByRole("dialog").getByText("Agents may cost money").waitFor();
    expect(await at.page.locator("main header [data-status=failed]").count()).toBe(1);
    await at.page.getByRole("button", { name: "Retry the run" }).click();
    await at.page.locator("main header [data-status=running]").waitFor();
  });

  it("stays at the end of what an agent says, until a person scrolls up", async () => {
    await open();
    const say = (text: string) => at.server.control({ run: "release-1", say: { path: "plan", attempt: 1, entry: { type: "text", text } } });
    const box = card("plan").getByRole("group", { name: "Transcript" });
    for (let line = 0; line < 60; line += 1) await say(`Line ${line}`);
    await card("plan").getByText("Line 59", { exact: true }).waitFor();
    const below = () => box.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await expect.poll(below).toBeLessThan(24);
    await box.evaluate((box) => box.scrollTo(0, 0));
    await at.page.getByRole("button", { name: "Jump to the end" }).waitFor();
    await say("Line 60");
    await card("plan").getByText("Line 60", { exact: true }).waitFor({ state: "attached" });
    expect(await box.evaluate((box) => box.scrollTop)).toBe(0);
    await at.page.getByRole("button", { name: "Jump to the end" }).click();
    await expect.poll(below).toBeLessThan(24);
  });

  it("is searched, also where it has not been opened", async () => {
    await open();
    await at.page.getByRole("tab", { name: "Search" }).click();
    const field = at.page.getByRole("searchbox");
    await field.fill("PLAN ANYTHING");
    await field.press("Enter");
    await at.page.getByRole("list", { name: "Found" }).getByText("plan anything").click();
    await card("plan").getByText("before I plan anything.").waitFor();
    expect(at.page.url()).toContain("step=plan");
  });

  it("says what became of a command when the server was away, and what it says goes away", async () => {
    await open();
    await status("plan", "running");
    await at.server.kill();
    await at.page.getByText("not live: reconnecting").waitFor();
    await at.page.getByRole("button", { name: "Pause" }).click();
    await at.page.getByText("It is not known whether “Pause” was done.").waitFor();
    await at.server.start();
    await at.page.getByText("“Pause” was not done. Try again.").waitFor();
    await at.page.getByRole("button", { name: "Pause" }).click();
    await at.page.locator("main header [data-status=paused]").waitFor();
    await at.page.getByText("was not done").waitFor({ state: "detached" });
    expect(await at.page.getByText("cannot be reached").count()).toBe(0);
  });

  it("shows its steps over time", async () => {
    await open("release-0");
    await at.page.getByRole("tab", { name: "Timeline" }).click();
    const steps = at.page.getByRole("list", { name: "Steps over time" });
    await steps.getByRole("button", { name: "Plan the release" }).waitFor();
    await at.page.getByText("of work").first().waitFor();
    await steps.getByRole("button", { name: "Plan the release" }).click();
    await at.page.getByRole("tab", { name: "Steps", selected: true }).waitFor();
  });

  it("folds a part of the picture and opens it again", async () => {
    await open("release-0");
    await node("check, run").waitFor();
    await at.page.getByRole("button", { name: "fold Do every task" }).click();
    await node("check, run").waitFor({ state: "detached" });
    await at.page.locator(".react-flow__node").getByRole("button", { name: "steps inside Do every task" }).click();
    await node("check, run").waitFor();
  });

  it("is paused, continues, and is cancelled after a question", async () => {
    await open();
    await at.page.getByRole("button", { name: "Pause" }).click();
    await at.page.locator("main header [data-status=paused]").waitFor();
    await at.page.getByRole("button", { name: "Continue" }).click();
    await at.page.getByRole("button", { name: "Pause" }).waitFor();
    await at.page.getByRole("button", { name: "Cancel" }).click();
    await at.page.getByRole("dialog").getByLabel("The reason (optional)").fill("enough");
    await at.page.getByRole("button", { name: "Cancel the run" }).click();
    await at.page.locator("main header [data-status=cancelled]").waitFor();
    await at.page.getByText("enough").waitFor();
  });

  it("says that there is no such run", async () => {
    await at.page.goto(at.server.url("/runs/nobody"));
    await at.page.getByText("There is no such run.").waitFor();
  });
});

describe("a run with twenty thousand events", () => {
  const at = stage({ options: ["--large", "5000"] });

  it("keeps up while they arrive, and is shown without making all of it", async () => {
    await at.page.goto(at.server.url("/runs/large-1"));
    await at.page.locator('article[data-path="each"]').waitFor();
    await at.server.control({ run: "large-1", commits: 20_000 });
    await at.page.getByText("5,000 steps done").waitFor();
    await at.page.locator('article[data-path="each[0]/work"]').waitFor();
    expect(await at.page.locator("article[data-path]").count()).toBeLessThan(60);
    await at.page.getByRole("tab", { name: "Log" }).click();
    await at.page.getByText("20,002 events").waitFor();
    expect(await at.page.getByRole("log").locator("p").count()).toBeLessThan(120);
    expect(at.complaints).toEqual([]);
  });
});
