import { describe, expect, it } from "vitest";
import { onRun, stage } from "./stage";

describe("a run that somebody else started", () => {
  const at = stage();
  const run = onRun(at);

  it("says whose its question is, and is answered in their place only by saying so", async () => {
    at.longhaul.park("interview", "A service", "there-1");
    await run.open("there-1");
    const question = at.page.getByRole("article", { name: "Question: On which port should it listen?" });
    await question.getByText("at the command line").waitFor();
    expect(await at.page.getByLabel("Your answer").count()).toBe(0);
    await question.getByRole("button", { name: "Answer in place of the owner" }).click();
    await at.page.getByLabel("Your answer").fill("8080");
    await run.button("Answer").click();
    await run.status("port", "succeeded");
  });
});

describe("a run that is told something", () => {
  const at = stage({
    prepare: (longhaul) => longhaul.write("errand", ERRAND),
  });
  const run = onRun(at);
  const begin = async (workflow: string) => {
    await at.page.goto(at.longhaul.url(`/workflows/${workflow}`));
    await run.button("Run it").click();
    await at.page.getByRole("dialog").getByRole("button", { name: "Run it", exact: true }).click();
    await at.page.getByTestId("run-id").waitFor();
  };

  it("answers and reviews, and is told what does not fit before it is sent", async () => {
    await begin("interview");
    await at.page.getByLabel("Your answer").fill("70000");
    await run.button("Answer").click();
    await at.page.getByText("This must be at most 65535.").waitFor();
    await at.page.getByLabel("Your answer").fill("8080");
    await run.button("Answer").click();
    const review = at.page.getByRole("article", { name: "Review: Is this what you want?" });
    await review.getByRole("button", { name: "Edit" }).click();
    await review.getByLabel("name").fill("waver");
    while ((await review.getByRole("button", { name: /^Remove parts/ }).count()) > 1) await review.getByRole("button", { name: /^Remove parts/ }).last().click();
    await review.getByLabel("parts 1", { exact: true }).fill("hand");
    await review.getByRole("button", { name: "Use this instead" }).click();
    await run.whole("succeeded");
    expect(at.longhaul.json("outputs", run.id())).toMatchObject({ outline: { name: "waver", parts: ["hand"] } });
  });

  it("pauses, continues, is cancelled with a reason, and is retried", async () => {
    await begin("errand");
    await run.node("go, approve, waiting").waitFor();
    await run.button("Pause").click();
    await run.whole("paused");
    await run.button("Continue").click();
    await run.whole("waiting");
    await run.button("Cancel").click();
    await at.page.getByLabel("The reason (optional)").fill("not today");
    await run.button("Cancel the run").click();
    await run.whole("cancelled");
    expect(at.longhaul.events(run.id())).toContainEqual(expect.objectContaining({ event: "cancel_requested", reason: "not today" }));
    await run.button("Retry").click();
    await run.button("Retry the run").click();
    await run.node("go, approve, waiting").waitFor();
    await run.button("Approve").click();
    await run.whole("failed");
    await run.status("second", "failed");
    await at.page.getByText("exit code 3").first().waitFor();
  });

  it("is forked from a step, and the other run has the past of the first", async () => {
    await begin("errand");
    const first = run.id();
    await run.button("Approve").click();
    await run.whole("failed");
    await run.card("go").locator("button[aria-expanded]").first().click();
    await run.card("go").getByRole("button", { name: "Fork from here" }).click();
    await at.page.getByRole("dialog").getByRole("button", { name: "Fork from here" }).click();
    await at.page.waitForURL((url) => !url.pathname.endsWith(first));
    await run.node("go, approve, waiting").waitFor();
    await run.status("first", "succeeded");
    const forked = await at.page.evaluate(async (id) => (await fetch(`/api/v1/runs/${id}`)).json() as Promise<object>, run.id());
    expect(forked).toMatchObject({ forked: [first, "go"] });
  });

  it("is denied, and says so", async () => {
    await begin("errand");
    await run.button("Deny").click();
    await at.page.getByLabel("The reason (optional)").fill("too late");
    await run.button("Deny").click();
    await at.page.getByText("too late").first().waitFor();
  });
});

const ERRAND = `name: errand
steps:
  - {id: first, run: echo one}
  - {id: go, depends_on: [first], approve: "Continue?"}
  - {id: second, depends_on: [go], run: "echo broken >&2; exit 3"}
`;

describe("somebody who may only look", () => {
  const at = stage();
  const run = onRun(at);

  it("sees everything, is offered nothing, and is refused by the server as well", async () => {
    at.longhaul.park("interview", "A service", "there-1");
    await at.page.context().clearCookies();
    await at.page.goto(at.longhaul.loginAs("viewer"));
    await at.page.locator("[data-run=there-1]").click();
    await at.page.getByText("You can only look: the role of your toke").first().waitFor();
    for (const name of ["Pause", "Cancel", "Answer in place of the owner", "Fork from here"]) expect(await run.button(name).count(), name).toBe(0);
    await at.page.goto(at.longhaul.url("/workflows/interview"));
    await expect.poll(() => run.button("Run it").isDisabled()).toBe(true);
    const refused = await at.page.evaluate(async () => {
      const headers = { "X-Longhaul": "1", "Content-Type": "application/json" };
      const answer = await fetch("/api/v1/runs/there-1/cancel", { method: "POST", headers, body: "{}" });
      return { status: answer.status, problem: (await answer.json()) as object };
    });
    expect(refused).toMatchObject({ status: 403, problem: { code: "LH0702" } });
    expect(at.longhaul.json("status", "there-1")).toMatchObject({ status: "waiting" });
  });
});

describe("two people", () => {
  const at = stage({
    prepare: (longhaul) => longhaul.write("two", 'name: two\nsteps: [{id: go, approve: "Release it?", approvals: {count: 2}}]\n'),
  });
  const run = onRun(at);
  const signIn = async (user: string) => {
    await at.page.context().clearCookies();
    await at.page.goto(at.longhaul.loginAs("operator", user));
    await at.page.getByRole("banner").getByText(`Signed in as ${user}`).waitFor();
  };

  it("approve one after the other, each under their own name, and sign out", async () => {
    at.longhaul.park("two", "", "two-1");
    await signIn("kim");
    await run.open("two-1");
    await at.page.getByText("0 of 2 approvals").first().waitFor();
    await run.button("Approve").click();
    await at.page.getByText("1 of 2 approvals, approved by kim").first().waitFor();
    await at.page.getByText("You have approved this. You can still deny it.").waitFor();
    await at.page.getByText("Missing: 1 more person").waitFor();
    expect(await run.button("Approve").count()).toBe(0);
    const cookies = await at.page.context().cookies();
    await run.button("Sign out").click();
    await at.page.getByText("You are not signed in").first().waitFor();
    await at.page.context().addCookies(cookies);
    const kept = await at.page.evaluate(async () => (await fetch("/api/v1/about")).status);
    expect(kept, "a cookie that somebody kept").toBe(401);
    await signIn("ana");
    await run.open("two-1");
    await run.button("Approve").click();
    await run.whole("succeeded");
    const said = at.longhaul.events<{ by?: string }>("two-1").filter(({ event }) => ["approved", "answered"].includes(event));
    expect(said.map(({ event, by }) => `${event} by ${by}`)).toEqual(["approved by kim", "answered by ana"]);
  });
});

const SURVEY = `name: survey
steps:
  - id: scope
    ask: What **should** it be?
    answer:
      type: object
      required: [name, port, tags]
      properties:
        name: {type: string, pattern: "^(ab)+$"}
        port: {type: integer, maximum: 65535}
        tags: {type: array, minItems: 1, items: {type: string}}
        when: {oneOf: [{type: string, format: date, title: On a day}, {type: object, title: After days, required: [days], properties: {days: {type: integer}}}]}
    output: scope
`;

describe("a form of the binary", () => {
  const at = stage({ prepare: (longhaul) => longhaul.write("survey", SURVEY) });

  it("is made from the schema, shows what the server says beside the field, and its value is the step's output", async () => {
    await at.page.goto(at.longhaul.url("/workflows/survey"));
    await at.page.getByRole("button", { name: "Run it" }).click();
    await at.page.getByRole("dialog").getByRole("button", { name: "Run it", exact: true }).click();
    await at.page.getByTestId("run-id").waitFor();
    const id = onRun(at).id();
    await at.page.getByRole("link", { name: "Approvals, 1 open" }).click();
    const card = at.page.getByRole("article", { name: "Question: What should it be?" });
    await card.getByLabel("name").fill("abc");
    await card.getByLabel("port").fill("8080");
    await card.getByLabel("tags 1", { exact: true }).fill("one");
    await card.getByLabel("when").selectOption("After days");
    await card.getByLabel("days", { exact: true }).fill("3");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    await card.getByText("This must match the pattern").waitFor();
    expect(await card.getByLabel("name").getAttribute("aria-invalid")).toBe("true");
    await card.getByLabel("name").fill("abab");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    await at.page.getByText(/Answered\. The run (succeeded|continues)/).waitFor();
    await expect.poll(() => at.longhaul.json("outputs", id), { timeout: 20_000 }).toEqual({ scope: { name: "abab", port: 8080, tags: ["one"], when: { days: 3 } } });
  });
});

describe("two people at once", () => {
  const at = stage({
    prepare: (longhaul) => longhaul.write("gate", 'name: gate\nsteps: [{id: go, approve: "Delete it?", approvals: anyone}, {id: then, depends_on: [go], run: echo deleted}]\n'),
  });

  it("get one outcome, and the second one reads who was first", async () => {
    at.longhaul.park("gate", "", "gate-1");
    const people = await Promise.all(
      ["kim", "ana"].map(async (user) => {
        const page = await (await at.context()).newPage();
        await page.goto(at.longhaul.loginAs("operator", user));
        await page.goto(at.longhaul.url("/runs/gate-1"));
        await page.getByRole("button", { name: "Deny" }).waitFor();
        return page;
      }),
    );
    const [kim, ana] = people;
    await ana?.getByRole("button", { name: "Deny" }).click();
    await Promise.all([
      kim?.getByRole("button", { name: "Approve", exact: true }).click(),
      ana?.getByRole("button", { name: "Deny" }).click(),
    ]);
    const said = people.map((page) => page.getByRole("status").getByText(/^go /).first());
    await Promise.all(said.map((text) => text.waitFor()));
    const texts = (await Promise.all(said.map((text) => text.textContent()))).map((text) => text ?? "");
    const answered = at.longhaul.events<{ by?: string }>("gate-1").filter(({ event }) => event === "answered");
    expect(answered.length).toBe(1);
    const isKim = answered[0]?.by === "kim";
    expect(texts[isKim ? 0 : 1]).toMatch(isKim ? /Approved\./ : /Denied\. The run/);
    expect(texts[isKim ? 1 : 0]).toMatch(isKim ? /Your answer was not applied\. Kim approved it at/ : /Your answer was not applied\. Ana denied it at/);
    await Promise.all(people.map((page) => page.context().close()));
  });
});
