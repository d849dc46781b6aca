// The line from a tab to the hub: a shared worker if there is one; else a tab that leads; else a hub of its own.

import { Hub } from "./hub";
import type { FromHub, FromTab } from "./messages";
import { browser } from "./source";

export interface Line {
  send: (message: FromTab) => void;
  /** Whether other tabs use the same connection. */
  shared: boolean;
}

const NAME = "longhaul-stream";

export function connect(tab: string, take: (message: FromHub) => void, again: () => void): Line {
  if (typeof SharedWorker !== "undefined") return byWorker(tab, take, again);
  return withoutWorker(tab, take, again);
}

function byWorker(tab: string, take: (message: FromHub) => void, again: () => void): Line {
  const line: Line = { send: () => {}, shared: true };
  const other = () => {
    Object.assign(line, withoutWorker(tab, take, again));
    again();
  };
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "longhaul-stream" });
  worker.onerror = other;
  worker.port.onmessage = ({ data }: MessageEvent<FromHub>) => (data.kind === "unable" ? other() : take(data));
  line.send = (message) => worker.port.postMessage(message);
  return line;
}

function withoutWorker(tab: string, take: (message: FromHub) => void, again: () => void): Line {
  if (typeof BroadcastChannel !== "undefined" && navigator.locks) return byLeader(tab, take, again);
  const hub = new Hub(browser);
  return { send: (message) => hub.take(message, take), shared: false };
}

/** The tab with the lock has the hub. When it goes, the next one gets the lock, and asks all tabs what they want. */
function byLeader(tab: string, take: (message: FromHub) => void, again: () => void): Line {
  type Said = { from: FromTab } | { to: string; message: FromHub } | { leads: true };
  const channel = new BroadcastChannel(NAME);
  let hub: Hub | undefined;
  const reply = (to: string) => (message: FromHub) => (to === tab ? take(message) : channel.postMessage({ to, message }));
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if ("from" in data) hub?.take(data.from, reply(data.from.tab));
    else if ("leads" in data) again();
    else if (data.to === tab) take(data.message);
  };
  void navigator.locks.request(NAME, () => {
    hub = new Hub(browser);
    channel.postMessage({ leads: true });
    again();
    return new Promise(() => {});
  });
  const send = (message: FromTab) => (hub ? hub.take(message, reply(tab)) : channel.postMessage({ from: message }));
  return { send, shared: true };
}
