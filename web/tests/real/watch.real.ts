import { describe, expect, it } from "vitest";
import { onRun, stage } from "./stage";

describe("somebody at the dashboard", () => {
  const at = stage();
  const run = onRun(at);

  it("comes in by the address that the server printed, which leaves nothing of the token behind", async () => {
    await at.page.getByText("Nothing has run yet").waitFor();
    expect(at.page.url()).not.toContain("token");
    const [cookie] = await at.page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    expect(at.longhaul.login).not.toContain(cookie?.value);
    const stranger = await (await at.context()).newPage();
    await stranger.goto(at.longhaul.url("/runs"));
    await stranger.getByText("You are not signed in").first().waitFor();
    expect(await stranger.getByText("The server cannot be reached").count()).toBe(0);
    await stranger.context().close();
    expect(at.complaints).toEqual([]);
  });

  it("starts a run with inputs of the right types, watches it, answers, and sees it through", async () => {
    await at.page.goto(at.longhaul.url("/workflows/release"));
    await run.button("Run it").click();
    const dialog = at.page.getByRole("dialog");
    await dialog.getByLabel("Task").fill("Greet the moon");
    await dialog.getByLabel("version").fill("2.0.0");
    await dialog.getByLabel("channel").selectOption("stable");
    await dialog.getByRole("radio", { name: "No", exact: true }).check();
    await dialog.getByRole("button", { name: "Run it", exact: true }).click();
    await at.page.getByRole("heading", { name: "Greet the moon" }).waitFor();
    await run.node("Plan the release, prompt, succeeded").waitFor();
    await run.node("go, approve, waiting").waitFor();
    await at.page.getByRole("heading", { name: "Why it waits" }).waitFor();
    const question = at.page.getByRole("article", { name: "Approval: Start 3 tasks for 2.0.0?" });
    await question.getByRole("button", { name: "Approve", exact: true }).click();
    await question.waitFor({ state: "detached" });
    await run.node("go, approve, succeeded").waitFor();
    await run.node("legacy, run, succeeded").waitFor();
    await at.page.getByRole("button", { name: "send", exact: true }).click();
    await run.whole("succeeded");
    await run.node("announce, workflow, succeeded").waitFor();
    await run.node("relax, run, skipped").waitFor();
    const [started] = at.longhaul.events<{ inputs: object; origin: object }>(run.id());
    expect(started).toMatchObject({ inputs: { version: "2.0.0", channel: "stable", dry_run: false } });
    expect(at.complaints).toEqual([]);
  });

  it("sees what somebody else starts and answers at a terminal", async () => {
    await at.page.getByText("Nothing has run yet").waitFor();
    at.longhaul.park("interview", "A service", "there-1");
    await at.page.locator("[data-run=there-1] [data-status=waiting]").waitFor();
    await at.page.getByRole("link", { name: "Approvals, 1 open" }).waitFor();
    await at.page.locator("[data-run=there-1]").click();
    await at.page.getByText("On which port should it listen?").first().waitFor();
    at.longhaul.command("answer", "there-1", "port", "8080");
    await run.status("port", "succeeded");
    await at.page.getByRole("article", { name: "Review: Is this what you want?" }).waitFor();
  });
});

describe("an agent that talks", () => {
  const at = stage({
    agent: "talker",
    prepare: (longhaul) => longhaul.write("talk", "name: talk\nsteps:\n  - {id: talk, prompt: 'Tell me something.'}\n  - {id: after, depends_on: [talk], run: echo heard}\n"),
  });
  const run = onRun(at);
  const said = (text: string) => run.card("talk").getByText(text, { exact: true });
  const begin = async () => {
    await at.page.goto(at.longhaul.url("/workflows/talk"));
    await run.button("Run it").click();
    await at.page.getByRole("dialog").getByLabel("Task").fill("Talk to me");
    await at.page.getByRole("dialog").getByRole("button", { name: "Run it", exact: true }).click();
    await run.status("talk", "running");
    const head = run.card("talk").locator("button[aria-expanded]").first();
    if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
  };

  it("is heard while it speaks, and once, also over a reload in the middle", async () => {
    await begin();
    at.longhaul.say("I look around.");
    await said("I look around.").waitFor();
    at.longhaul.say("There is a door.");
    await said("There is a door.").waitFor();
    await at.page.goto(at.longhaul.url(`/runs/${run.id()}?step=talk`));
    await said("There is a door.").waitFor();
    at.longhaul.say("I open it.");
    await said("I open it.").waitFor();
    for (const text of ["I look around.", "There is a door.", "I open it."]) expect(await said(text).count(), text).toBe(1);
    at.longhaul.say("That is all.", true);
    await run.whole("succeeded");
  });

  it("continues while the server is killed, and the page catches up without a gap when it is back", async () => {
    await begin();
    at.longhaul.say("Before.");
    await said("Before.").waitFor();
    await at.longhaul.kill();
    await at.page.getByText("not live: reconnecting").waitFor();
    at.longhaul.say("Meanwhile.");
    await at.longhaul.start();
    await said("Meanwhile.").waitFor();
    at.longhaul.say("Afterwards.");
    await said("Afterwards.").waitFor();
    for (const text of ["Before.", "Meanwhile.", "Afterwards."]) expect(await said(text).count(), text).toBe(1);
    at.longhaul.say("The end.", true);
    await run.whole("succeeded");
    const { attempts } = at.longhaul.json<{ steps: { path: string; attempts: number }[] }>("status", run.id()).steps.find((step) => step.path === "talk") ?? {};
    expect(attempts).toBe(1);
    await at.page.getByRole("tab", { name: "Log" }).click();
    await at.page.getByText("the run is over: success").waitFor();
    const numbers = await at.page.getByRole("log").locator("p > span:first-child").allTextContents();
    expect(numbers.map(Number)).toEqual(at.longhaul.events(run.id()).map(({ seq }) => seq));
  });
});
