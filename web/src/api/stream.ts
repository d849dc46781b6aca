// Listens to the server. All tabs of a browser share one connection; see `hub`.
//
// A hidden tab watches the list only: rows say when its run ends, and that is enough for its title.

import { newKey } from "./key";
import { connect, type Line } from "./hub/line";
import type { Connection, FromHub } from "./hub/messages";

export type { Connection } from "./hub/messages";

/** Hears the list of runs. */
export interface ListListener {
  on: Record<string, (data: unknown) => void>;
  changed: (connection: Connection) => void;
  /** The stream is complete from here on; the list must be read after it. */
  ready: () => void;
}

/** Hears a run. */
export interface RunListener {
  run: string;
  /** The last event that it has. */
  after: () => number;
  on: Record<string, (data: unknown) => void>;
  changed: (connection: Connection) => void;
}

/** How often a tab says what it wants, so that the hub does not forget it. */
const HELLO_MS = 20_000;

class Ear {
  private readonly tab = newKey();
  private line: Line | undefined;
  private readonly lists = new Set<ListListener>();
  private readonly runs = new Set<RunListener>();
  private connection: Connection = "open";
  private isReady = false;

  list(listener: ListListener): () => void {
    this.lists.add(listener);
    if (this.isReady) listener.ready();
    listener.changed(this.connection);
    this.hello();
    return () => {
      this.lists.delete(listener);
      this.hello();
    };
  }

  run(listener: RunListener): () => void {
    this.runs.add(listener);
    listener.changed(this.connection);
    this.hello();
    return () => {
      this.runs.delete(listener);
      this.hello();
    };
  }

  /** Says what this tab wants. */
  private hello = (): void => {
    const line = (this.line ??= this.begin());
    const seen = document.hidden ? [] : [...this.runs];
    // Without a shared connection, a hidden tab leaves it to the others.
    const list = this.lists.size > 0 && (line.shared || !document.hidden);
    line.send({ kind: "wants", tab: this.tab, list, runs: seen.map(({ run, after }) => ({ run, after: after() })) });
  };

  private begin(): Line {
    const line = connect(this.tab, (message) => this.take(message), this.hello);
    setInterval(this.hello, HELLO_MS);
    document.addEventListener("visibilitychange", this.hello);
    addEventListener("pagehide", () => line.send({ kind: "bye", tab: this.tab }));
    addEventListener("pageshow", (event) => event.persisted && this.hello());
    return line;
  }

  private take(message: FromHub): void {
    if (message.kind === "connection") this.changed(message.connection);
    else if (message.kind === "ready") this.ready();
    else if (message.kind === "event") this.event(message);
  }

  private changed(connection: Connection): void {
    this.connection = connection;
    if (connection === "lost") this.isReady = false;
    for (const listener of [...this.lists, ...this.runs]) listener.changed(connection);
  }

  private ready(): void {
    this.isReady = true;
    for (const listener of this.lists) listener.ready();
  }

  private event({ run, name, data }: Extract<FromHub, { kind: "event" }>): void {
    if (run === undefined) for (const { on } of this.lists) on[name]?.(data);
    else for (const listener of this.runs) if (listener.run === run) listener.on[name]?.(data);
  }
}

const ear = new Ear();

export const listenToList = (listener: ListListener): (() => void) => ear.list(listener);
export const listenToRun = (listener: RunListener): (() => void) => ear.run(listener);
