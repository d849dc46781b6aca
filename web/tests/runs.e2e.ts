import { describe, expect, it } from "vitest";
import { stage } from "./stage";

describe("the list of runs", () => {
  const at = stage({ options: ["--runs", "10000"] });
  const line = (run: string) => at.page.locator(`[data-run="${run}"]`);

  it("shows how runs stand and whom they wait for, and changes when they do", async () => {
    await line("release-1").locator("[data-status=running]").waitFor();
    await line("interview-1").getByText("port asks: On which port should it listen?").waitFor();
    await line("nightly-1").getByText("the linker was killed").waitFor();
    await at.server.control({ run: "release-1", commits: 1 });
    await line("release-1").locator("[data-status=waiting]").waitFor();
    await line("release-1").getByText("go asks: Start 3 tasks for 1.4.0?").waitFor();
    expect(at.complaints).toEqual([]);
  });

  it("finds runs by status, workflow and text, and keeps that in its address", async () => {
    await line("release-1").waitFor();
    await at.page.getByRole("button", { name: "failed" }).click();
    await at.page.getByLabel("Workflow").selectOption("nightly");
    await line("nightly-1").waitFor();
    await line("release-1").waitFor({ state: "detached" });
    await at.page.getByRole("button", { name: "failed" }).click();
    await at.page.getByLabel("Workflow").selectOption("");
    await at.page.getByLabel("Search runs").fill("WAVES");
    await line("interview-1").waitFor({ state: "detached" });
    await line("interview-0").waitFor();
    expect(new URL(at.page.url()).search).toContain("WAVES");
    await at.page.reload();
    await line("interview-0").waitFor();
    expect(await at.page.locator("[data-run]").count()).toBe(1);
  });

  it("sums up what the filter finds, and finds by day", async () => {
    const totals = at.page.getByLabel("Totals");
    await totals.getByText("10,005 runs").waitFor();
    await at.page.getByLabel("Started").selectOption("hour");
    await line("release-1").waitFor();
    await line("nightly-1").waitFor({ state: "detached" });
    expect(await totals.getByText("10,005 runs").count()).toBe(0);
    expect(new URL(at.page.url()).search).toContain("time=hour");
    await at.page.getByLabel("Started").selectOption("days");
    await at.page.getByLabel("From this day").fill("2020-01-01");
    await at.page.getByLabel("To this day").fill("2020-01-02");
    await at.page.getByText("No run matches").waitFor();
  });

  it("makes few of ten thousand rows, and reaches the last one", async () => {
    await line("release-1").waitFor();
    expect(await at.page.locator("[data-run]").count()).toBeLessThan(60);
    await at.page.waitForFunction(
      () => {
        window.scrollTo(0, document.body.scrollHeight);
        return document.querySelector('[data-run="old-09999"]') !== null;
      },
      undefined,
      { timeout: 55_000 },
    );
    expect(await at.page.locator("[data-run]").count()).toBeLessThan(60);
  });

  it("shows what it knows while the server is away, and is right again when it is back", async () => {
    await line("release-1").locator("[data-status=running]").waitFor();
    await at.server.kill();
    await at.page.getByText("The server cannot be reached. What is shown may be old").waitFor();
    await line("release-1").waitFor();
    await at.server.start();
    await at.page.getByText("The server cannot be reached. What is shown may be old").waitFor({ state: "detached" });
    await at.server.control({ run: "release-1", commits: 1 });
    await line("release-1").locator("[data-status=waiting]").waitFor();
  });
});

describe("somebody who is not signed in", () => {
  const at = stage();
  const signIn = async (token: string) => {
    await at.page.getByLabel("Token").fill(token);
    await at.page.getByRole("button", { name: "Sign in" }).click();
  };

  it("pastes a token, and reads a sentence if it is wrong", async () => {
    await at.page.context().clearCookies();
    await at.page.goto(at.server.url("/workflows"));
    await at.page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    await signIn("wrong");
    await at.page.getByText("This token is not valid.").waitFor();
    await signIn(at.server.url("/login?token=fixture"));
    await at.page.getByRole("link", { name: "release" }).waitFor();
    expect(new URL(at.page.url()).pathname).toBe("/workflows");
  });

  it("gets the same form for a wrong token in the address, which does not stay there", async () => {
    await at.page.context().clearCookies();
    const response = await at.page.goto(at.server.url("/login?token=wrong"));
    expect(response?.status()).toBe(401);
    await at.page.getByText("This token is not valid.").waitFor();
    expect(at.page.url()).toBe(at.server.url("/login"));
    await signIn("fixture");
    await at.page.locator("[data-run]").first().waitFor();
  });
});
