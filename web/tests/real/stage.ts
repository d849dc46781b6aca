// The binary itself, in a project of its own, and a real browser in front of it.

import { type ChildProcess, execFileSync, spawn, type StdioOptions } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { BROWSER } from "../../fixtures/browser.mjs";

const BINARY = resolve(process.env["LONGHAUL"] ?? "../target/debug/longhaul");
const PROJECT = resolve("fixtures/project");
const TALKER = resolve("tests/real/talker.mjs");

/** How a command ends whose run waits for an answer. */
const WAITING = 3;

export interface Options {
  /** Who does prompts: replies from a file, or the one who says what the test writes. */
  agent?: "scripted" | "talker";
}

export class Longhaul {
  readonly folder = mkdtempSync(join(tmpdir(), "lh-real-"));
  login = "";
  private process: ChildProcess | undefined;
  private port = 0;
  private readonly env: NodeJS.ProcessEnv;
  private said = 0;
  private readonly workers: ChildProcess[] = [];

  constructor(private readonly options: Options = {}) {
    const home = this.path("home");
    // What the caller of the tests has set must not reach the server.
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("LONGHAUL") && name !== "XDG_STATE_HOME");
    this.env = { ...Object.fromEntries(own), HOME: home };
    mkdirSync(join(home, ".longhaul"), { recursive: true });
    mkdirSync(this.path("talk"));
    cpSync(PROJECT, this.path(".longhaul/workflows"), { recursive: true });
    rmSync(this.path(".longhaul/workflows/replies.yaml"));
    // Nobody waits for a limit to pass here.
    const replies = readFileSync(join(PROJECT, "replies.yaml"), "utf8").split("\n");
    this.replies(replies.filter((line) => !line.includes("rate_limit")).join("\n"));
    execFileSync("git", ["init", "-q"], { cwd: this.folder });
    const talk = `[agents.talker]\nbackend = "claude"\nprogram = "${TALKER}"\nenv = { TALK = "${this.path("talk")}" }\n`;
    writeFileSync(join(home, ".longhaul/config.toml"), `agent = "${options.agent ?? "scripted"}"\n${talk}`);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A workflow of the project. */
  write(name: string, text: string): void {
    writeFileSync(this.path(`.longhaul/workflows/${name}.yaml`), text);
  }

  /** Makes a file that a step waits for. */
  let(name: string): void {
    writeFileSync(this.path(name), "");
  }

  /** What the scripted agent answers. */
  replies(text: string): void {
    writeFileSync(this.path("replies.yaml"), text);
  }

  /** The agent says something; with `last`, its turn ends. A file appears whole or not at all. */
  say(text: string, last = false): void {
    this.said += 1;
    writeFileSync(this.path("talk/unfinished"), text);
    renameSync(this.path("talk/unfinished"), this.path(`talk/${last ? "last" : this.said}.txt`));
  }

  /** A command, as somebody at another terminal. */
  command(...args: string[]): string {
    const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
    return execFileSync(BINARY, args, { cwd: this.folder, env: this.env, stdio, maxBuffer: 1 << 28 }).toString();
  }

  json<T>(...args: string[]): T {
    return JSON.parse(this.command(...args, "--json")) as T;
  }

  events<T = object>(run: string): (T & { seq: number; event: string })[] {
    const lines = this.command("events", run, "--json").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as T & { seq: number; event: string });
  }

  /** Starts a run at another terminal, up to what it asks. */
  park(workflow: string, task: string, run: string): void {
    try {
      this.command("run", workflow, task, "--run-id", run, "--script", "replies.yaml");
    } catch (error) {
      if ((error as { status?: number }).status !== WAITING) throw error;
    }
  }

  /** Starts the server; a second time at the same address. */
  async start(): Promise<void> {
    const args = ["serve", "--json", "--listen", `127.0.0.1:${this.port}`, ...this.scripted()];
    const server = spawn(BINARY, args, { cwd: this.folder, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.process = server;
    let complained = "";
    server.stderr.on("data", (data) => (complained += String(data)));
    const said = await new Promise<string>((tell, fail) => {
      server.stdout.once("data", (data) => tell(String(data)));
      server.once("exit", (code) => fail(new Error(`longhaul serve ended with ${code}: ${complained}`)));
    });
    const { url, login } = JSON.parse(said) as { url: string; login: string | null };
    this.port = Number(new URL(url).port);
    this.login = login ?? this.login;
  }

  private scripted(): string[] {
    return this.options.agent === "talker" ? [] : ["--script", "replies.yaml"];
  }

  /** Starts a worker beside the server. */
  worker(name: string, ...args: string[]): ChildProcess {
    const worker = spawn(BINARY, ["worker", "--name", name, ...this.scripted(), ...args], { cwd: this.folder, env: this.env, stdio: "ignore" });
    this.workers.push(worker);
    return worker;
  }

  /** As if the power went out. */
  async kill(): Promise<void> {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode !== null) return;
    const over = new Promise((tell) => this.process?.once("exit", tell));
    this.process.kill("SIGKILL");
    await over;
  }

  async end(): Promise<void> {
    await this.kill();
    for (const worker of this.workers) worker.kill("SIGKILL");
    // An agent that is still under way ends with its turn.
    if (this.options.agent === "talker") this.say("", true);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** An address that signs somebody in with a role, as a person if one is named. */
  loginAs(role: "viewer" | "operator", user?: string): string {
    const person = user ? ["--user", user] : [];
    const { token } = this.json<{ token: string }>("serve", "token", "--role", role, ...person);
    return this.url(`/login?token=${token}`);
  }
}

export interface Stage {
  longhaul: Longhaul;
  page: Page;
  /** What the browser complained about. */
  complaints: string[];
  context: (options?: object) => Promise<BrowserContext>;
}

interface Scene extends Options {
  /** What is done before the server starts. */
  prepare?: (longhaul: Longhaul) => void;
  /** One server for all tests of the scene. */
  once?: boolean;
}

/** A stage for the tests of a scene: one browser, a server, and for each test a page that is signed in. */
export function stage({ prepare, once = false, ...options }: Scene = {}): Stage {
  let browser: Browser;
  const made = { complaints: [] as string[] } as Stage;
  const open = async () => {
    made.longhaul = new Longhaul(options);
    prepare?.(made.longhaul);
    await made.longhaul.start();
  };
  beforeAll(async () => {
    browser = await chromium.launch(BROWSER);
    made.context = (more = {}) => browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...more });
    if (once) await open();
  });
  afterAll(async () => {
    await browser.close();
    if (once) await made.longhaul.end();
  });
  beforeEach(async () => {
    if (!once) await open();
    made.page = await (await made.context()).newPage();
    made.complaints = [];
    made.page.on("pageerror", (error) => made.complaints.push(String(error)));
    made.page.on("console", (message) => message.type() === "error" && made.complaints.push(message.text()));
    await made.page.goto(made.longhaul.login);
  });
  afterEach(async () => {
    await made.page.context().close();
    if (!once) await made.longhaul.end();
  });
  return made;
}

/** What a test does on the page of a run. */
export function onRun(at: Stage) {
  return {
    card: (path: string) => at.page.locator(`article[data-path="${path}"][data-status]`),
    node: (name: string) => at.page.locator(".react-flow__node").getByRole("button", { name }),
    button: (name: string) => at.page.getByRole("button", { name, exact: true }),
    status: (path: string, word: string) => at.page.locator(`article[data-path="${path}"][data-status="${word}"]`).first().waitFor(),
    whole: (word: string) => at.page.locator(`main header [data-status=${word}]`).first().waitFor(),
    open: async (run: string, query = "") => {
      await at.page.goto(at.longhaul.url(`/runs/${run}${query}`));
      await at.page.getByTestId("run-id").waitFor();
    },
    /** The run that the page shows. */
    id: () => new URL(at.page.url()).pathname.split("/").at(-1) ?? "",
  };
}
