// A picture of every page: real runs of the binary, wide and narrow, light and dark.

import { mkdirSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { it } from "vitest";
import { type Longhaul, stage } from "./stage";

const wanted = (process.env["PICTURES"] ?? "").split(" ").filter(Boolean);

/** A release whose second task takes its time. */
const SLOWLY = `  - step: plan
    contains: night
    reply: {tasks: [{title: Draw the moon, file: .longhaul/out/moon.txt, risk: low}, {title: Count the stars, file: .longhaul/out/stars.txt, risk: high}]}
    usage: {input_tokens: 6100, output_tokens: 380, usd: 0.034}
  - {step: work, contains: moon, reply: "Drawn, with a face.", usage: {input_tokens: 2100, output_tokens: 90, usd: 0.008}, writes: {".longhaul/out/moon.txt": "moon, done\\n"}}
  - {step: work, contains: stars, reply: "Counted.", after: 10m}
`;

/** Steps for several workers: one here, one for the other worker, one that nobody can do. */
const TRAIN = `name: train
description: Prepare, train and judge a model
steps:
  - {id: prepare, run: "echo 4200 samples"}
  - {id: warm-up, name: Warm up, run: "echo 3 epochs", runs_on: big, depends_on: [prepare]}
  - {id: fit, name: Fit the model, run: "sleep 600", runs_on: big, depends_on: [warm-up]}
  - {id: judge, name: Judge it, run: "echo 0.93", runs_on: [gpu, linux], depends_on: [warm-up]}
`;

/** Lanes of steps beside each other. In the middle, one asks a person. */
function lanes(name: string, width: number, length: number): string {
  const step = (_: unknown, at: number) =>
    `  - {id: s${at}, ${at === (width * length) / 2 ? "approve: 'Go on?'" : "run: 'true'"}${at < width ? "" : `, depends_on: [s${at - width}]`}}`;
  return `name: ${name}\nlimits: {steps: 100000}\nsteps:\n${Array.from({ length: width * length }, step).join("\n")}\n`;
}

const at = stage({
  prepare: (longhaul: Longhaul) => {
    longhaul.write("sixty", lanes("sixty", 8, 8));
    longhaul.write("many", lanes("many", 25, 20));
    longhaul.write("train", TRAIN);
    const replies = readFileSync(longhaul.path("replies.yaml"), "utf8");
    longhaul.replies(replies.replace("replies:\n", `replies:\n${SLOWLY}`));
  },
});

async function ask<T>(page: Page, path: string, body?: object): Promise<T> {
  return page.evaluate(
    async ([path, body]) => {
      const headers = { "X-Longhaul": "1", "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
      const answer = await fetch(`/api/v1${path}`, body ? { method: "POST", headers, body: JSON.stringify(body) } : {});
      return (await answer.json()) as T;
    },
    [path, body] as const,
  );
}

interface Seen {
  status: string;
  progress: { succeeded: number; waiting: number; running: number };
}

/** Starts a run and answers what it asks, until it stands as wanted. */
async function go(page: Page, workflow: string, task: string, answers: Record<string, unknown>, until: (run: Seen) => boolean): Promise<string> {
  const { run } = await ask<{ run: string }>(page, "/runs", { workflow, task });
  for (;;) {
    const seen = await ask<Seen & { questions: { path: string; shown: string }[] }>(page, `/runs/${run}`);
    const open = seen.questions.find(({ path }) => path in answers);
    if (open) await ask(page, `/runs/${run}/answer`, { path: open.path, shown: open.shown, answer: answers[open.path] });
    else if (until(seen)) return run;
    await page.waitForTimeout(100);
  }
}

it("takes pictures", async () => {
  mkdirSync("shots", { recursive: true });
  await at.page.getByText("Nothing has run yet").waitFor();
  await shoot({ empty: { path: "/runs" }, quiet: { path: "/approvals" }, alone: { path: "/workers" } });
  const over = ({ status }: Seen) => ["succeeded", "failed"].includes(status);
  const waits = ({ status }: Seen) => status === "waiting";
  const done = await go(at.page, "release", "Greet everybody who comes in", { go: "approve", "announce/sure": { value: { value: "send" } } }, over);
  const failed = await go(at.page, "nightly", "The build of the night", {}, over);
  const review = await go(at.page, "interview", "A service that greets", { port: { value: { value: 8080 } } }, waits);
  const gate = await go(at.page, "release", "Say goodbye as well", {}, waits);
  at.longhaul.park("interview", "A service that waves", "there-1");
  at.longhaul.worker("bert", "--labels", "big", "--slots", "2");
  const apart = await go(at.page, "train", "Tell cats from dogs", {}, ({ progress }) => progress.waiting > 0 && progress.running > 0);
  const sixty = await go(at.page, "sixty", "Sixty-four steps", {}, waits);
  const many = await go(at.page, "many", "Five hundred steps", {}, waits);
  const busy = await go(at.page, "release", "A picture of the night", { go: "approve" }, ({ progress }) => progress.succeeded > 3);
  await at.page.goto(at.longhaul.url(`/runs/${busy}`));
  await at.page.locator('[data-path="tasks[1]/cycle[0]/work"][data-status=running]').first().waitFor();
  await at.page.locator('[data-path="tasks[0]/cycle[0]/check"][data-status=succeeded]').first().waitFor();
  await shoot({
    runs: { path: "/runs" },
    run: { path: `/runs/${busy}?step=plan` },
    done: { path: `/runs/${done}?step=notes` },
    gate: { path: `/runs/${gate}` },
    review: { path: `/runs/${review}` },
    elsewhere: { path: "/runs/there-1" },
    failed: { path: `/runs/${failed}` },
    sixty: { path: `/runs/${sixty}` },
    many: { path: `/runs/${many}` },
    wide: { path: `/runs/${many}?tab=picture` },
    timeline: { path: `/runs/${done}?tab=timeline` },
    long: { path: `/runs/${many}?tab=timeline` },
    search: { path: `/runs/${done}?tab=search` },
    summary: { path: `/runs/${done}?tab=summary` },
    log: { path: `/runs/${done}?tab=log` },
    files: { path: `/runs/${done}?tab=files`, click: "run.json" },
    picture: { path: `/runs/${done}?tab=picture`, click: "steps of announce" },
    workflows: { path: "/workflows" },
    workflow: { path: "/workflows/release" },
    source: { path: "/workflows/release", click: "Source" },
    broken: { path: "/workflows/broken" },
    dialog: { path: "/workflows/release", click: "Run it" },
    approvals: { path: "/approvals" },
    workers: { path: "/workers" },
    apart: { path: `/runs/${apart}?step=warm-up` },
    nowhere: { path: "/nowhere" },
  });
  await at.page.context().clearCookies();
  await shoot({ stranger: { path: "/runs" } });
});

async function shoot(pages: Record<string, { path: string; click?: string }>): Promise<void> {
  const cookies = await at.page.context().cookies();
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await at.context({ viewport: { width, height }, colorScheme });
      await context.addCookies(cookies);
      const page = await context.newPage();
      for (const [name, { path, click }] of Object.entries(pages).filter(([name]) => !wanted.length || wanted.includes(name))) {
        await page.goto(at.longhaul.url(path));
        await page.locator("main h1, main [role=alert]").first().waitFor({ state: "attached" });
        if (click) await page.getByText(click, { exact: true }).or(page.getByRole("button", { name: click })).first().click();
        // Time for what is drawn late: pictures are for people.
        await page.waitForTimeout(700);
        await page.screenshot({ path: `shots/${name}-${width}-${colorScheme}.png` });
      }
      await context.close();
    }
  }
}
