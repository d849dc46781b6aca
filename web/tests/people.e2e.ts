import { describe, expect, it } from "vitest";
import { stage } from "./stage";

describe("workflows", () => {
  const at = stage();

  it("are started with inputs of the right types", async () => {
    await at.page.goto(at.server.url("/workflows"));
    await at.page.getByText("succeeded").first().waitFor();
    await at.page.getByRole("link", { name: "release" }).click();
    await at.page.getByRole("button", { name: "Run it" }).click();
    const dialog = at.page.getByRole("dialog");
    await dialog.getByLabel("Task").fill("Greet the moon");
    await dialog.getByLabel("channel").selectOption("stable");
    const asked = at.page.waitForRequest((request) => request.method() === "POST");
    await dialog.getByRole("button", { name: "Run it", exact: true }).click();
    const request = await asked;
    expect(request.postDataJSON()).toEqual({
      workflow: "release",
      task: "Greet the moon",
      inputs: { version: "1.4.0", channel: "stable", dry_run: true },
    });
    expect(request.headers()["x-longhaul"]).toBe("1");
    expect(request.headers()["idempotency-key"]).toMatch(/^[0-9a-f]{32}$/);
    await at.page.getByRole("heading", { name: "Greet the moon" }).waitFor();
  });

  it("show their text and what is wrong with it", async () => {
    await at.page.goto(at.server.url("/workflows/broken"));
    await at.page.getByText("step has no key").first().waitFor();
    expect(await at.page.getByRole("button", { name: "Run it" }).isDisabled()).toBe(true);
    await at.page.getByRole("tab", { name: "Source" }).click();
    expect(await at.page.locator("[data-severity=error]").count()).toBe(2);
  });
});

describe("the inbox", () => {
  const at = stage();

  it("counts what is open on every page, and loses what is answered", async () => {
    await at.page.getByRole("link", { name: "Approvals, 2 open" }).click();
    const review = at.page.getByRole("article", { name: "Review: Is this what you want?" });
    await review.getByRole("button", { name: "Edit" }).click();
    await review.getByRole("tab", { name: "JSON" }).click();
    await review.getByLabel("Your value").fill("{");
    await review.getByRole("button", { name: "Use this instead" }).click();
    await review.getByText("This must be JSON").waitFor();
    await review.getByLabel("Your value").fill('{"name": "waver", "parts": ["x"]}');
    await review.getByRole("tab", { name: "Form" }).click();
    await review.getByLabel("name").fill("greeter");
    await review.getByRole("button", { name: "Remove parts 1" }).click();
    await review.getByText("Add a comment").click();
    await review.getByLabel("Comment").fill("shorter");
    const asked = at.page.waitForRequest((request) => request.method() === "POST");
    await review.getByRole("button", { name: "Use this instead" }).click();
    expect((await asked).postDataJSON()).toEqual({
      path: "outline",
      answer: { edit: { value: { name: "greeter", parts: [] } } },
      shown: expect.stringMatching(/^[0-9a-f]{64}$/),
      comment: "shorter",
    });
    await review.waitFor({ state: "detached" });
    await at.page.getByRole("status").getByText("Edited. The run continues.").waitFor();
    await at.page.getByRole("link", { name: "Approvals, 1 open" }).waitFor();
  });
});

describe("who is signed in", () => {
  const at = stage();

  it("is said on every page", async () => {
    for (const path of ["/runs", "/approvals"]) {
      await at.page.goto(at.server.url(path));
      expect(await at.page.getByRole("banner").getByText("Signed in as jane").textContent()).toBe("Signed in as jane");
    }
  });
});

describe("the keyboard", () => {
  const at = stage();
  const press = async (...keys: string[]) => {
    for (const key of keys) await at.page.keyboard.press(key);
  };
  const focused = () => at.page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");

  it("goes from the top of the list to the answer of a question", async () => {
    await at.page.locator("[data-run=interview-0]").waitFor();
    await press("Tab");
    expect(await focused()).toBe("Skip to the page");
    await press("Enter");
    await at.page.locator("[data-run=interview-0]").focus();
    await press("Enter");
    await at.page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await at.page.getByRole("button", { name: "Pause" }).focus();
    while ((await focused()) !== "Approve") await press("Tab");
    const outline = await at.page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    expect(outline).toBe("solid");
    await press("Enter");
    await at.page.locator("main header [data-status=succeeded]").waitFor();
  });

  it("moves between tabs with the arrows, and closes dialogs with Escape", async () => {
    await at.page.goto(at.server.url("/runs/release-1"));
    await at.page.getByRole("tab", { name: "Steps" }).focus();
    await press("ArrowRight");
    await at.page.getByRole("list", { name: "Steps over time" }).waitFor();
    expect(await focused()).toBe("Timeline");
    await at.page.getByRole("button", { name: "Cancel" }).focus();
    await press("Enter");
    await at.page.getByRole("dialog").waitFor();
    await press("Escape");
    await at.page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("Cancel");
  });

  it("reaches nodes of the picture", async () => {
    await at.page.goto(at.server.url("/runs/release-0"));
    await at.page.getByRole("tab", { name: "Summary" }).click();
    await at.page.getByRole("button", { name: "Write the notes, prompt, succeeded" }).focus();
    await press("Enter");
    await at.page.locator('article[data-path=notes][data-selected="true"]').waitFor();
    expect(new URL(at.page.url()).searchParams.get("step")).toBe("notes");
  });
});

describe("a telephone", () => {
  const at = stage({ width: 390, height: 844 });

  it("shows every page without scrolling sideways", async () => {
    for (const path of [
      "/runs",
      "/runs/release-0",
      "/runs/release-0?tab=picture",
      "/runs/release-0?tab=summary",
      "/runs/nightly-1",
      "/workflows",
      "/workflows/release",
      "/approvals",
      "/workers",
    ]) {
      await at.page.goto(at.server.url(path));
      await at.page.locator("main h1, main [role=list]").first().waitFor();
      const width = await at.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, path).toBe(390);
    }
    expect(at.complaints).toEqual([]);
  });

  it("has the picture in a tab", async () => {
    await at.page.goto(at.server.url("/runs/release-0"));
    await at.page.getByRole("tab", { name: "Picture" }).click();
    await at.page.getByRole("button", { name: "Plan the release, prompt, succeeded" }).waitFor();
  });
});

describe("colours", () => {
  const at = stage();

  it("are as a person says, also after a reload", async () => {
    const theme = () => at.page.evaluate(() => document.documentElement.dataset["theme"]);
    await at.page.getByRole("button", { name: "Colours: as the system" }).click();
    await at.page.getByRole("button", { name: "Colours: dark" }).waitFor();
    expect(await theme()).toBe("dark");
    await at.page.reload();
    await at.page.getByRole("button", { name: "Colours: dark" }).waitFor();
    expect(await theme()).toBe("dark");
  });
});
