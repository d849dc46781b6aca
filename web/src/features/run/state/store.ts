// A watched run: its snapshot, its events as they arrive, and the transcripts of its agents.
//
// Invariant: every event is applied once and in order. Events after a snapshot are kept until a later snapshot contains them, and
// an older snapshot is dropped, so no snapshot takes anything back.

import { ApiError, address, get } from "../../../api/client";
import type { Envelope } from "../../../api/events";
import { type Connection, listenToList, listenToRun } from "../../../api/stream";
import type { Live, Run, RunRow } from "../../../api/types";
import { Fold } from "./fold";
import { Transcripts } from "./transcripts";

const REFRESH_MS = 300;
const AGAIN_MS = 2_000;
const HISTORY_PAGE = 5_000;

export class RunStore {
  fold: Fold | undefined;
  problem: Error | undefined;
  connection: Connection = "open";
  /** How far the server's clock is ahead of this one's. */
  skew = 0;
  /** All events from the first one on, once a component asked for them. */
  readonly history: Envelope[] = [];
  readonly transcripts: Transcripts;
  version = 0;

  private readonly listeners = new Set<() => void>();
  /** The number of the last snapshot, and the events after it. */
  private base = 0;
  private tail: Envelope[] = [];
  private arrived: Envelope[] = [];
  private stop: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flushing = false;
  private ended = false;
  /** A large run takes the server longer, so it is asked less often. */
  private took = 0;
  private wantsHistory = false;

  constructor(readonly run: string) {
    this.transcripts = new Transcripts(run, () => this.changed());
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  begin(): () => void {
    this.ended = false;
    void this.refresh();
    return () => {
      this.ended = true;
      this.stop?.();
      this.stop = undefined;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  private changed(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }

  /** Asks for a snapshot, and continues from there. */
  async refresh(): Promise<void> {
    const asked = performance.now();
    try {
      const snapshot = await get<Run>(address(`/runs/${this.run}`));
      if (this.ended) return;
      this.took = performance.now() - asked;
      this.take(snapshot);
    } catch (error) {
      this.failed(error as Error);
    }
  }

  private take(snapshot: Run): void {
    this.problem = undefined;
    if (snapshot.seq < this.base) return;
    this.base = snapshot.seq;
    if (snapshot.ended_at === undefined) this.skew = snapshot.started_at + snapshot.duration_ms - Date.now();
    const shape = this.fold?.shape ?? 0;
    this.fold = new Fold(snapshot);
    this.fold.shape = shape + 1;
    this.tail = this.tail.filter((event) => event.seq > snapshot.seq);
    for (const event of this.tail) this.fold.apply(event);
    this.stop ??= this.connect();
    if (this.fold.stale) this.refreshSoon();
    this.changed();
  }

  private failed(error: Error): void {
    const status = error instanceof ApiError ? error.problem.status : 0;
    const passes = status === 0 || status >= 500;
    // A page with data keeps showing it, and shows that the connection is lost.
    if (!this.fold || !passes) this.problem = error;
    if (passes && !this.ended) this.refreshSoon(AGAIN_MS);
    this.changed();
  }

  /** Asks for one snapshot, however many events ask for one meanwhile. */
  private refreshSoon(after = Math.max(REFRESH_MS, this.took * 10)): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.refresh();
    }, after);
  }

  private connect(): () => void {
    const stops = [
      listenToRun({
        run: this.run,
        after: () => this.fold?.head.seq ?? 0,
        on: {
          journal: (event) => this.arrive(event as Envelope),
          live: (entry) => this.transcripts.arrive(entry as Live),
          gone: () => void this.refresh(),
        },
        changed: (connection) => {
          this.connection = connection;
          if (connection === "open") this.transcripts.catchUp();
          this.changed();
        },
      }),
      listenToList({ on: { run: (row) => this.moved(row as RunRow) }, changed: () => {}, ready: () => this.isHidden() && void this.refresh() }),
    ];
    // What an agent said while the tab was hidden is in its file.
    const seen = () => !document.hidden && this.transcripts.catchUp();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      for (const stop of stops) stop();
    };
  }

  /** A hidden tab does not watch its run, but its title says how the run ended. */
  private moved({ run, status }: RunRow): void {
    if (run === this.run && this.isHidden() && status !== this.fold?.head.status) void this.refresh();
  }

  private isHidden(): boolean {
    return document.hidden;
  }

  /** Events arrive in groups; they are applied together before the next drawing. */
  private arrive(event: Envelope): void {
    this.arrived.push(event);
    if (this.flushing) return;
    this.flushing = true;
    setTimeout(() => this.flush(), 30);
  }

  private flush(): void {
    this.flushing = false;
    const arrived = this.arrived;
    this.arrived = [];
    const fold = this.fold;
    if (!fold || this.ended) return;
    const fresh = arrived.filter((event) => event.seq > fold.head.seq && fold.apply(event));
    this.tail.push(...fresh);
    const missed = arrived.some((event) => event.seq > fold.head.seq);
    if (this.wantsHistory) void this.readHistory();
    if (missed || fold.stale) this.refreshSoon();
    if (fresh.length) this.changed();
  }

  /** Reads all events from the first one on, and stays up to date. */
  async readHistory(): Promise<void> {
    this.wantsHistory = true;
    const known = this.tail.filter((event) => event.seq > this.history.length);
    if (known[0]?.seq === this.history.length + 1) this.history.push(...known);
    if (this.reading || this.history.length >= (this.fold?.head.seq ?? 0)) return;
    this.reading = true;
    try {
      const query = { after: this.history.length, limit: HISTORY_PAGE };
      const { events } = await get<{ events: Envelope[] }>(address(`/runs/${this.run}/events`, query));
      this.history.push(...events.filter((event) => event.seq > this.history.length));
    } finally {
      this.reading = false;
    }
    this.changed();
    return this.readHistory();
  }

  private reading = false;
}
