import { describe, expect, it } from "vitest";
import { stage } from "./stage";

describe("fix and retry", () => {
  const at = stage();

  it("shows mistakes beside the lines, then what is kept, then continues the run", async () => {
    await at.page.goto(at.server.url("/runs/release-1"));
    await at.page.getByTestId("run-id").waitFor();
    await at.server.control({ run: "release-1", commits: 1 });
    await at.page.getByRole("button", { name: "Fix and retry" }).click();
    const dialog = at.page.getByRole("dialog", { name: "Fix and retry" });
    const text = dialog.getByLabel("The text of the workflow");
    expect(await text.inputValue()).toContain("id: plan");

    await text.fill("do:\n  - {id: plan, broken: 1}\n");
    await dialog.getByRole("button", { name: "Compare" }).click();
    await dialog.getByText("unknown key `broken`").waitFor();
    expect(await dialog.locator("li[data-severity=error]").textContent()).toBe("2");
    expect(await dialog.getByRole("button", { name: "Continue the run" }).count()).toBe(0);

    await text.fill("do:\n  - {id: plan, prompt: Plan it.}\n  - {id: go, approve: Really?}\n");
    expect(await dialog.locator("li[data-severity=error]").count()).toBe(0);
    await dialog.getByRole("button", { name: "Compare" }).click();
    await dialog.getByRole("row", { name: "plan kept" }).waitFor();
    await dialog.getByRole("row", { name: "go changed: question runs" }).waitFor();
    await dialog.getByText("1 step kept, 0 steps again, 1 step to run").waitFor();
    await dialog.getByRole("button", { name: "Continue the run" }).click();
    await dialog.waitFor({ state: "detached" });
    await at.page.getByRole("tab", { name: "Log" }).click();
    await at.page.getByText("continues with a changed workflow by jane: 1 steps kept, 0 again").waitFor();
  });
});
