// One connection to the server for all tabs of a browser.
//
// Browsers allow six connections to a server. A tab says which runs it watches; the hub opens one stream for all of them, and
// passes each event to the tabs that want it.
//
// Invariant: no tab misses an event of a run. If the wanted runs change, the new stream is open before the old one is closed, and
// it starts at the oldest position of its tabs. Tabs drop what they already have.

import type { Connection, FromHub, FromTab } from "./messages";

/** A stream of server-sent events; `EventSource`, except in tests. */
export interface Source {
  close: () => void;
}

export interface Handlers {
  opened: () => void;
  /** The stream broke; the source is closed. */
  broke: () => void;
  event: (name: string, data: unknown) => void;
}

export interface Surroundings {
  open: (url: string, handlers: Handlers) => Source;
  now: () => number;
  later: (ms: number, what: () => void) => void;
}

interface Tab {
  send: (message: FromHub) => void;
  list: boolean;
  /** The last event that the tab has, by run. */
  runs: Map<string, number>;
  seen: number;
}

interface Stream {
  source: Source;
  list: boolean;
  /** The last event that the stream sent, by run. */
  runs: Map<string, number>;
  about: string;
  isOpen: boolean;
  isReady: boolean;
}

const AGAIN_MS = 1_000;
/** Browsers slow down the clocks of hidden tabs to one tick a minute. */
export const FORGOTTEN_MS = 180_000;
/** The most runs in one stream, as the server says. */
const RUNS_MAX = 32;

export class Hub {
  private readonly tabs = new Map<string, Tab>();
  private stream: Stream | undefined;
  /** The stream that will replace `stream` when it is open. */
  private next: Stream | undefined;
  private connection: Connection = "open";
  private waits = false;

  constructor(private readonly around: Surroundings) {}

  take(message: FromTab, send: (message: FromHub) => void): void {
    const known = this.tabs.get(message.tab);
    if (message.kind === "bye") {
      this.tabs.delete(message.tab);
    } else {
      const runs = new Map(message.runs.map(({ run, after }) => [run, Math.max(after, known?.runs.get(run) ?? 0)]));
      this.tabs.set(message.tab, { send, list: message.list, runs, seen: this.around.now() });
      if (!known) {
        send({ kind: "connection", connection: this.connection });
        if (message.list && this.stream?.isReady && this.stream.list) send({ kind: "ready" });
      }
    }
    this.settle();
  }

  /** Opens another stream if the wanted runs changed, or a tab needs older events than the stream sends. */
  private settle(): void {
    this.forget();
    const wanted = this.wanted();
    if (this.tabs.size === 0 || (!wanted.list && wanted.runs.size === 0)) return this.disconnect();
    if (this.waits) return;
    const current = this.next ?? this.stream;
    if (current && serves(current, wanted)) return;
    this.next?.source.close();
    this.next = this.open(wanted);
  }

  private wanted(): { list: boolean; runs: Map<string, number> } {
    const runs = new Map<string, number>();
    let list = false;
    for (const tab of this.tabs.values()) {
      list ||= tab.list;
      for (const [run, after] of tab.runs) runs.set(run, Math.min(after, runs.get(run) ?? Infinity));
    }
    return { list, runs: new Map([...runs].slice(-RUNS_MAX)) };
  }

  private open({ list, runs }: { list: boolean; runs: Map<string, number> }): Stream {
    const query = new URLSearchParams();
    if (!list) query.append("list", "false");
    for (const [run, after] of runs) query.append("run", `${run}:${after}`);
    const made: Stream = { source: { close: () => {} }, list, runs: new Map(runs), about: "", isOpen: false, isReady: !list };
    made.source = this.around.open(`/api/v1/streams?${query.toString()}`, {
      opened: () => this.opened(made),
      broke: () => this.broke(made),
      event: (name, data) => this.event(made, name, data),
    });
    return made;
  }

  private opened(stream: Stream): void {
    stream.isOpen = true;
    if (stream !== this.next) return;
    this.stream?.source.close();
    this.stream = stream;
    this.next = undefined;
    this.tell("open");
  }

  private broke(stream: Stream): void {
    if (stream !== this.stream && stream !== this.next) return;
    stream.source.close();
    if (stream === this.next) this.next = undefined;
    else this.stream = undefined;
    // While the old stream works, nothing is lost.
    if (!this.stream) this.tell("lost");
    if (this.waits) return;
    this.waits = true;
    this.around.later(AGAIN_MS, () => {
      this.waits = false;
      this.settle();
    });
  }

  private event(stream: Stream, name: string, data: unknown): void {
    if (stream !== this.stream && stream !== this.next) return;
    if (name === "about") {
      stream.about = (data as { run: string }).run;
    } else if (name === "run" || name === "questions") {
      this.ready(stream, name);
      this.each((tab) => tab.list && tab.send({ kind: "event", name, data }));
    } else {
      this.ofRun(stream, name, data);
    }
  }

  /** The first `questions` of a stream says that it is complete from there on. After a stream that was complete, nothing is missing. */
  private ready(stream: Stream, name: string): void {
    if (name !== "questions" || stream.isReady) return;
    stream.isReady = true;
    const before = this.stream !== stream && this.stream?.isReady && this.stream.list;
    if (!before) this.each((tab) => tab.list && tab.send({ kind: "ready" }));
  }

  private ofRun(stream: Stream, name: string, data: unknown): void {
    const run = stream.about;
    const { seq } = data as { seq?: number };
    if (name === "journal" && seq !== undefined) stream.runs.set(run, seq);
    this.each((tab) => {
      const after = tab.runs.get(run);
      if (after === undefined) return;
      if (name === "journal" && seq === after + 1) tab.runs.set(run, seq);
      tab.send({ kind: "event", run, name, data });
    });
  }

  private each(what: (tab: Tab) => void): void {
    for (const tab of this.tabs.values()) what(tab);
  }

  private tell(connection: Connection): void {
    this.connection = connection;
    this.each((tab) => tab.send({ kind: "connection", connection }));
  }

  /** Forgets tabs that have said nothing for long: a tab that crashed says no goodbye. */
  private forget(): void {
    const now = this.around.now();
    for (const [id, { seen }] of this.tabs) if (now - seen > FORGOTTEN_MS) this.tabs.delete(id);
  }

  private disconnect(): void {
    this.stream?.source.close();
    this.next?.source.close();
    this.stream = undefined;
    this.next = undefined;
  }
}

/** Whether a stream sends everything that is wanted. It may send more: another stream would cost more than that. */
function serves(stream: Stream, { list, runs }: { list: boolean; runs: Map<string, number> }): boolean {
  if (stream.list !== list || stream.runs.size > runs.size) return false;
  return [...runs].every(([run, after]) => (stream.runs.get(run) ?? Infinity) <= after);
}
