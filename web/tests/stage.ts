// A scripted server and a real browser, for a test to play with.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { BROWSER } from "../fixtures/browser.mjs";

export class Server {
  private process: ChildProcess | undefined;
  private port = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), "lh-web-"));

  constructor(private readonly options: string[] = []) {}

  /** Starts it; a second time at the same address, knowing how far its runs were. */
  async start(): Promise<void> {
    const args = ["fixtures/server.mjs", "--port", String(this.port), "--state", join(this.folder, "state.json"), ...this.options];
    const server = spawn("node", args, { stdio: ["ignore", "pipe", "inherit"] });
    this.process = server;
    const said = await new Promise<string>((tell) => server.stdout.once("data", (data) => tell(String(data))));
    this.port = Number(new URL(said).port);
  }

  async kill(): Promise<void> {
    if (this.process?.exitCode !== null) return;
    const over = new Promise((tell) => this.process?.once("exit", tell));
    this.process?.kill("SIGKILL");
    await over;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Makes something happen in a run; how far it is, and how many pages watch it. */
  async control(happens: {
    run: string;
    commits?: number;
    say?: { path: string; attempt: number; entry: object };
    happen?: object[];
    roster?: object;
  }): Promise<{ seq: number; watched: number }> {
    const response = await fetch(this.url("/control"), { method: "POST", body: JSON.stringify(happens) });
    return (await response.json()) as { seq: number; watched: number };
  }
}

export interface Stage {
  server: Server;
  page: Page;
  /** What the browser complained about. */
  complaints: string[];
}

/** A stage for the tests of a file: one browser, and for each test a server and a page that is signed in. */
export function stage({ options = [], width = 1440, height = 900 }: { options?: string[]; width?: number; height?: number } = {}): Stage {
  let browser: Browser;
  const made = { complaints: [] as string[] } as Stage;
  beforeAll(async () => {
    browser = await chromium.launch(BROWSER);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    made.server = new Server(options);
    await made.server.start();
    made.page = await (await browser.newContext({ viewport: { width, height }, reducedMotion: "reduce" })).newPage();
    made.complaints = [];
    made.page.on("pageerror", (error) => made.complaints.push(String(error)));
    made.page.on("console", (message) => message.type() === "error" && made.complaints.push(message.text()));
    await made.page.goto(made.server.url("/login?token=fixture"));
  });
  afterEach(async () => {
    await made.page.context().close();
    await made.server.end();
  });
  return made;
}
