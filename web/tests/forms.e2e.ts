// Answering with forms: every type of a schema, hostile ones, two people at once, a phone.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { stage } from "./stage";

const options = ["--forms"];
const rowOf = (page: Page, text: string) => page.locator("[data-row]").filter({ hasText: text });
const open = async (page: Page, url: string, text: string) => {
  await page.goto(url);
  await rowOf(page, text).click();
  return page.locator("article[data-question]");
};

describe("a form", () => {
  const at = stage({ options });
  const begin = async (text: string) => open(at.page, at.server.url("/approvals"), text);

  it("has a field for every type, and sends their values", async () => {
    const card = await begin("What should the service be like?");
    await card.getByLabel("Name of the service").fill("waver");
    expect(await card.getByLabel("port").inputValue(), "what the schema suggests").toBe("8080");
    await card.getByLabel("port").press("ArrowUp");
    await card.getByLabel("ratio").fill("0.25");
    await card.getByLabel("size").selectOption("large");
    await card.getByRole("group", { name: "dry" }).getByLabel("No").check();
    await card.getByLabel("day (").fill("2026-11-30");
    await card.getByLabel("mail").fill("kim@example.com");
    await card.getByLabel("version").fill("v2");
    await card.getByLabel("tags 1", { exact: true }).fill("one");
    await card.getByRole("button", { name: "Add another to tags" }).click();
    await card.getByLabel("tags 2", { exact: true }).fill("two");
    await card.getByRole("button", { name: "Move tags 2 up" }).click();
    await card.getByRole("button", { name: "Add days" }).click();
    await card.getByLabel("wed").check();
    await card.getByLabel("mon").check();
    await card.getByRole("button", { name: "Add one to tasks" }).click();
    await card.getByRole("group", { name: "tasks 1" }).getByLabel("title").fill("Build it");
    await card.getByRole("button", { name: "Add another to tasks" }).click();
    await card.getByRole("group", { name: "tasks 2" }).getByLabel("title").fill("Test it");
    await card.getByRole("group", { name: "tasks 2" }).getByLabel("risk").selectOption("high");
    await card.getByRole("button", { name: "Remove tasks 1" }).click();
    await card.getByRole("button", { name: "Add owner" }).click();
    await card.getByLabel("team").fill("core");
    await card.getByLabel("target").selectOption("A host");
    await card.getByLabel("host", { exact: true }).fill("box");
    await card.getByLabel("extra").fill('{"a": "b"}');
    const asked = at.page.waitForRequest((request) => request.method() === "POST");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    expect((await asked).postDataJSON().answer).toEqual({
      value: {
        value: {
          name: "waver",
          port: 8081,
          ratio: 0.25,
          size: "large",
          dry: false,
          day: "2026-11-30",
          mail: "kim@example.com",
          version: "v2",
          kind: "service",
          tags: ["two", "one"],
          days: ["mon", "wed"],
          tasks: [{ title: "Test it", risk: "high" }],
          owner: { team: "core" },
          target: { host: "box" },
          note: null,
          extra: { a: "b" },
        },
      },
    });
    await at.page.getByRole("status").getByText("Answered. The run continues.").waitFor();
    expect(at.complaints).toEqual([]);
  });

  it("says what is wrong beside each field, first by itself and then with the words of the server", async () => {
    const card = await begin("What should the service be like?");
    await card.getByLabel("Name of the service").fill("ab");
    await card.getByLabel("port").fill("70000");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    const about = async (label: string) => {
      const id = await card.getByLabel(label).getAttribute("aria-describedby");
      return at.page.locator(`[id="${id}"]`).getByRole("alert").textContent();
    };
    expect(await about("Name of the service")).toBe("This must have at least 3 characters.");
    expect(await about("port")).toBe("This must be at most 65535.");
    expect(await about("size")).toBe("This is required.");
    expect(await at.page.evaluate(() => document.activeElement?.getAttribute("aria-invalid")), "the first one has the focus").toBe("true");
    await card.getByLabel("port").fill("80");
    expect(await card.getByLabel("port").getAttribute("aria-invalid"), "fixed").toBeNull();
    await card.getByLabel("Name of the service").fill("taken");
    await card.getByLabel("size").selectOption("small");
    await card.getByLabel("Yes").check();
    await card.getByLabel("tags 1", { exact: true }).fill("one");
    await card.getByRole("button", { name: "Add one to tasks" }).click();
    await card.getByLabel("title").fill("x");
    await card.getByLabel("target").selectOption("A URL");
    await card.getByLabel("A URL", { exact: true }).fill("https://example.com");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    await card.getByText("This name is taken.").waitFor();
    expect(await about("Name of the service")).toBe("This name is taken.");
    expect(await about("title")).toBe("This must be longer.");
    expect(await about("extra")).toBe("a: This must be text.");
    expect(await card.getByText("schema").count(), "no schema is shown").toBe(0);
  });

  it("is not broken by a hostile schema or text", async () => {
    const card = await begin("<img src=x");
    await card.getByLabel("city").fill("ity 99");
    await card.getByText("and 91 more").waitFor();
    await card.getByLabel("city").fill("y 9999");
    await card.getByRole("button", { name: "City 9999" }).click();
    await card.getByLabel("A strange name").fill("p");
    await card.getByLabel("constructor").fill("c");
    await card.getByLabel("late").fill(`${"a".repeat(50)}!`);
    await card.getByRole("button", { name: "Add deep" }).click();
    const asked = at.page.waitForRequest((request) => request.method() === "POST");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    expect((await asked).postData()).toContain('"__proto__":"p","constructor":"c"');
    expect(await at.page.evaluate(() => "pwned" in window)).toBe(false);
    expect(at.complaints).toEqual([]);
  });

  it("shows Markdown without HTML, and links with their target", async () => {
    const card = await begin("<img src=x");
    await card.getByText("<script>window.pwned = 1</script>").waitFor();
    expect(await card.locator("img, script").count()).toBe(0);
    const links = await card.locator("[aria-label='What is asked'] a").evaluateAll((all) => all.map((link) => [link.getAttribute("href"), link.getAttribute("rel")]));
    expect(links).toEqual([
      ["https://example.com/page", "noopener noreferrer nofollow"],
      ["https://example.com/p.png", "noopener noreferrer nofollow"],
    ]);
    await card.getByText("(https://example.com/page)").waitFor();
    await rowOf(at.page, "Release 1.4.0?").click();
    await card.getByRole("table").waitFor();
    expect(await card.locator("strong").first().textContent()).toBe("1.4.0");
  });
});

describe("the inbox", () => {
  const at = stage({ options });

  it("has one line per question, opens the first one, and its buttons are on the screen", async () => {
    await at.page.goto(at.server.url("/approvals"));
    const approve = at.page.getByRole("button", { name: "Approve", exact: true });
    await approve.waitFor();
    expect(await at.page.locator("[data-row]").count()).toBe(9);
    expect(await rowOf(at.page, "Release it to everybody?").textContent()).toMatch(/Task of form-5.*forms.*5m ago.*1 of 3.*you can answer/);
    expect(await rowOf(at.page, "Delete it?").textContent()).toContain("role ops");
    const box = await approve.boundingBox();
    expect(box && box.y + box.height).toBeLessThan(900);
    const buttons = await at.page.locator("article[data-question] [data-look]").evaluateAll((all) => all.map((one) => `${one.textContent}: ${one.getAttribute("data-look")}`));
    expect(buttons).toEqual(["Approve: main", "tomorrow: plain", "only canary: plain", "Deny: danger"]);
  });

  it("is used with the keyboard", async () => {
    await at.page.goto(at.server.url("/approvals"));
    const text = () => at.page.locator("article[data-question]").getAttribute("aria-label");
    await at.page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await at.page.keyboard.press("j");
    await expect.poll(text).toBe("Question: What should the service be like?");
    await at.page.keyboard.press("j");
    await at.page.keyboard.press("k");
    await expect.poll(text).toBe("Question: What should the service be like?");
    await at.page.getByLabel("Name of the service").fill("");
    await at.page.keyboard.type("jkj");
    expect(await at.page.getByLabel("Name of the service").inputValue()).toBe("jkj");
    expect(await text()).toBe("Question: What should the service be like?");
  });

  it("says who has approved and who is missing", async () => {
    const card = await open(at.page, at.server.url("/approvals"), "Release it to everybody?");
    const people = card.getByRole("region", { name: "Approvals so far" });
    expect(await people.getByRole("listitem").allTextContents()).toEqual([expect.stringMatching(/^kim approved .* ago: tests are fine$/), "Missing: ana, jane"]);
  });

  it("tells the second of two people who was first, and puts no other question under the mouse", async () => {
    const text = "Release 1.4.0?";
    const other = await at.page.context().newPage();
    await at.page.context().addCookies([{ name: "who", value: "kim", url: at.server.url("/") }]);
    const card = await open(at.page, at.server.url("/approvals"), text);
    const theirs = await open(other, at.server.url("/approvals"), text);
    // The other page does not hear that it is answered before it answers as well.
    await other.route("**/api/v1/questions", (route) => route.abort());
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await at.page.getByText("Approved. The run continues.").waitFor();
    expect(await at.page.getByRole("button", { name: "Approve", exact: true }).count(), "the next question does not open by itself").toBe(0);
    await theirs.getByRole("button", { name: "Deny" }).click();
    await theirs.getByRole("button", { name: "Deny" }).click();
    await other.getByText(/Your answer was not applied\. Kim approved it at/).waitFor();
    await at.page.getByRole("button", { name: "Next question" }).click();
    await at.page.getByRole("article", { name: "Question: What should the service be like?" }).waitFor();
    await other.close();
  });

  it("fails alone, if it fails", async () => {
    const question = { run: "x", path: "y", kind: "approval", asked_at: 1, shown: "z", workflow: "w", task: "t", here: { ok: true } };
    await at.page.route("**/api/v1/questions", (route) => route.fulfill({ json: { questions: [question] } }));
    await at.page.goto(at.server.url("/approvals"));
    await at.page.getByText("This page cannot be shown.").waitFor();
    await at.page.getByRole("link", { name: "Workers" }).click();
    await at.page.getByRole("heading", { name: "Workers" }).waitFor();
  });

  it("says so if a denial fails the run", async () => {
    const card = await open(at.page, at.server.url("/approvals"), "Release 1.4.0?");
    await card.getByRole("button", { name: "Deny" }).click();
    await card.getByRole("button", { name: "Deny" }).click();
    await at.page.getByText("Denied. The run failed: ask was denied.").waitFor();
  });

  it("sends a hint with another attempt", async () => {
    const card = await open(at.page, at.server.url("/approvals"), "failed 3 times");
    await card.getByLabel("A hint for the next attempt").fill("use less memory");
    const asked = at.page.waitForRequest((request) => request.method() === "POST");
    await card.getByRole("button", { name: "Try again" }).click();
    expect((await asked).postDataJSON()).toMatchObject({ answer: "approve", comment: "use less memory" });
  });
});

describe("a phone", () => {
  const at = stage({ options, width: 390, height: 844 });

  it("shows every word of a review, and the buttons without scrolling", async () => {
    const card = await open(at.page, at.server.url("/approvals"), "Are these findings right?");
    await card.getByText("more below").waitFor();
    expect(await at.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const cells = await card.locator("td").evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    expect(cells.every(([left = 0, right = 0]) => left >= 0 && right <= 390)).toBe(true);
    await card.evaluate((element) => element.scrollIntoView());
    const box = await card.getByRole("button", { name: "Approve", exact: true }).boundingBox();
    expect(box && box.y + box.height).toBeLessThan(844);
    await card.getByRole("button", { name: "Edit" }).click();
    expect(await at.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await card.getByRole("group", { name: "findings 1" }).getByLabel("severity").selectOption("minor");
    const asked = at.page.waitForRequest((request) => request.method() === "POST");
    await card.getByRole("button", { name: "Use this instead" }).click();
    const { findings } = (await asked).postDataJSON().answer.edit.value as { findings: { severity: string }[] };
    expect(findings.map(({ severity }) => severity)).toEqual(["minor", "minor", "major", "minor", "major", "minor"]);
  });

  it("wraps a diff", async () => {
    await at.page.goto(at.server.url("/runs/release-1?tab=files"));
    await at.page.getByText("changes.diff").click();
    const diff = at.page.locator("pre").filter({ hasText: "goodbye, done" });
    await diff.waitFor();
    expect(await diff.evaluate((pre) => pre.scrollWidth <= pre.clientWidth)).toBe(true);
  });

  it("opens a question in its list", async () => {
    await at.page.goto(at.server.url("/approvals"));
    const row = rowOf(at.page, "Release 1.4.0?");
    await at.page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await row.click();
    await at.page.locator("article[data-question]").waitFor({ state: "detached" });
    await at.page.keyboard.press("j");
    await at.page.keyboard.press("Enter");
    await at.page.getByRole("article", { name: "Question: What should the service be like?" }).waitFor();
    expect(at.complaints).toEqual([]);
  });
});

describe.each(["light", "dark"] as const)("buttons under the mouse, %s", (colorScheme) => {
  const at = stage({ options });

  it("can be read", async () => {
    await at.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await at.page.goto(at.server.url("/approvals"));
    await rowOf(at.page, "Release 1.4.0?").click();
    const measured: Record<string, number> = {};
    for (const look of ["main", "plain", "danger", "quiet"]) {
      if (look === "quiet") await at.page.getByRole("button", { name: "Deny" }).click();
      const button = at.page.locator(`[data-look=${look}]`).first();
      await button.hover();
      measured[look] = await button.evaluate(contrast);
    }
    for (const [look, ratio] of Object.entries(measured)) expect(ratio, look).toBeGreaterThan(4.5);
  });
});

/** The contrast of a button's words, as WCAG measures it. */
function contrast(element: Element): number {
  const light = (color: string) => {
    const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => Number(part) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (at: Element | null): string => {
    if (!at) return "rgb(255, 255, 255)";
    const color = getComputedStyle(at).backgroundColor;
    return /, 0\)$|transparent/.test(color) ? behind(at.parentElement) : color;
  };
  const [one, other] = [light(getComputedStyle(element).color), light(behind(element))];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
