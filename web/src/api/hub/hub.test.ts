import { beforeEach, describe, expect, it } from "vitest";
import { FORGOTTEN_MS, type Handlers, Hub } from "./hub";
import type { FromHub } from "./messages";

interface Opened extends Handlers {
  url: string;
  closed: boolean;
}

describe("the hub", () => {
  let streams: Opened[];
  let now: number;
  let later: (() => void)[];
  let hub: Hub;
  let heard: Record<string, FromHub[]>;

  beforeEach(() => {
    [streams, now, later, heard] = [[], 0, [], {}];
    hub = new Hub({
      open: (url, handlers) => {
        const made = { url, closed: false, ...handlers };
        streams.push(made);
        return { close: () => void (made.closed = true) };
      },
      now: () => now,
      later: (_, what) => void later.push(what),
    });
  });

  const send = (tab: string) => (message: FromHub) => void (heard[tab] ??= []).push(message);
  const wants = (tab: string, ...runs: [string, number][]) =>
    hub.take({ kind: "wants", tab, list: true, runs: runs.map(([run, after]) => ({ run, after })) }, send(tab));
  const open = () => streams.filter(({ closed }) => !closed);
  const last = () => streams.at(-1) as Opened;
  const seqs = (tab: string, run: string) =>
    (heard[tab] ?? []).flatMap((one) => (one.kind === "event" && one.run === run && one.name === "journal" ? [(one.data as { seq: number }).seq] : []));
  const journal = (stream: Opened, run: string, seq: number) => {
    stream.event("about", { run });
    stream.event("journal", { seq });
  };

  it("opens one stream for all tabs, and gives each what it wants", () => {
    wants("a", ["x", 3]);
    last().opened();
    wants("b", ["y", 0]);
    last().opened();
    expect(open().map(({ url }) => url)).toEqual(["/api/v1/streams?run=x%3A3&run=y%3A0"]);
    journal(last(), "x", 4);
    journal(last(), "y", 1);
    expect([seqs("a", "x"), seqs("a", "y"), seqs("b", "x"), seqs("b", "y")]).toEqual([[4], [], [], [1]]);
  });

  it("keeps the old stream until the new one is open, and misses nothing between them", () => {
    wants("a", ["x", 0]);
    const first = last();
    first.opened();
    journal(first, "x", 1);
    wants("b", ["y", 0]);
    const second = last();
    expect(open()).toEqual([first, second]);
    expect(second.url).toContain("run=x%3A1");
    journal(first, "x", 2);
    second.opened();
    expect(first.closed).toBe(true);
    journal(second, "x", 2);
    journal(second, "x", 3);
    journal(first, "x", 3);
    // Tabs drop what they have.
    expect(seqs("a", "x")).toEqual([1, 2, 2, 3]);
  });

  it("goes back for a tab that needs older events", () => {
    wants("a", ["x", 0]);
    last().opened();
    for (const seq of [1, 2, 3]) journal(last(), "x", seq);
    wants("b", ["x", 3]);
    expect(streams.length).toBe(1);
    wants("c", ["x", 1]);
    expect(last().url).toContain("run=x%3A1");
    last().opened();
    for (const seq of [2, 3]) journal(last(), "x", seq);
    expect(seqs("c", "x")).toEqual([2, 3]);
  });

  it("says when it is lost, tries again from where it was, and asks for the list", () => {
    wants("a", ["x", 0]);
    last().opened();
    last().event("questions", { open: 0 });
    journal(last(), "x", 1);
    last().broke();
    expect(heard["a"]?.at(-1)).toEqual({ kind: "connection", connection: "lost" });
    later.shift()?.();
    expect(last().url).toContain("run=x%3A1");
    last().opened();
    last().event("questions", { open: 0 });
    expect(heard["a"]?.filter(({ kind }) => kind === "ready").length).toBe(2);
  });

  it("does not ask for the list again when another tab opens a run", () => {
    wants("a");
    last().opened();
    last().event("questions", { open: 0 });
    wants("b", ["x", 0]);
    expect(heard["b"]).toContainEqual({ kind: "ready" });
    last().event("questions", { open: 0 });
    last().opened();
    expect(heard["a"]?.filter(({ kind }) => kind === "ready").length).toBe(1);
  });

  it("stops watching what no tab watches, and closes when all are gone", () => {
    wants("a", ["x", 0]);
    wants("b", ["y", 0]);
    last().opened();
    wants("b");
    expect(last().url).toBe("/api/v1/streams?run=x%3A0");
    last().opened();
    hub.take({ kind: "bye", tab: "b" }, send("b"));
    hub.take({ kind: "bye", tab: "a" }, send("a"));
    expect(open()).toEqual([]);
  });

  it("forgets a tab that crashed, and learns of a tab that it forgot", () => {
    wants("a", ["x", 0]);
    last().opened();
    now = FORGOTTEN_MS + 1;
    wants("b", ["y", 0]);
    expect(last().url).toBe("/api/v1/streams?run=y%3A0");
    last().opened();
    wants("a", ["x", 7]);
    expect(last().url).toContain("run=x%3A7");
  });

  it("watches the runs that were asked for last if there are too many", () => {
    wants("a", ...Array.from({ length: 40 }, (_, at): [string, number] => [`r${at}`, 0]));
    expect(last().url.match(/run=/g)?.length).toBe(32);
    expect(last().url).toContain("r39");
  });
});
