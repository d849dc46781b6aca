// Formats numbers and times for people.

import type { Awaited, Origin, Usage } from "../api/types";

const UNITS: readonly [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

/** A duration in at most two units: `2h 5m`, `3.4s`, `120ms`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toString()}s`;
  const at = UNITS.findIndex(([size]) => ms >= size);
  const [size, unit] = UNITS[at] as [number, string];
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((ms % size) / next[0]) : 0;
  return `${Math.floor(ms / size)}${unit}${rest && next ? ` ${rest}${next[1]}` : ""}`;
}

/** Money; small amounts with more digits, since most steps cost less than a cent. */
export function money(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}

/** The cost of something; with a sign if it is incomplete. */
export function cost(usage: Usage): string {
  return `${money(usage.usd)}${usage.usd_unknown || usage.at_least ? " or more" : ""}`;
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A text of the server as a sentence: messages for the command line start with a small letter. */
export function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? "" : ".";
  return text && `${capital(text)}${end}`;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

export function tokens(usage: Usage): string {
  return `${short(usage.input_tokens)} in, ${short(usage.output_tokens)} out`;
}

/** A number in at most four characters: `940`, `5.2k`, `31k`, `1.4M`. */
export function short(n: number): string {
  if (n < 1_000) return String(n);
  const [size, unit] = n < 999_500 ? ([1_000, "k"] as const) : ([1_000_000, "M"] as const);
  const value = n / size;
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

export function bytes(n: number): string {
  return n < 1_024 ? `${n} B` : n < 1_048_576 ? `${Math.round(n / 1_024)} KiB` : `${(n / 1_048_576).toFixed(1)} MiB`;
}

/** How long ago; `just now` within a few seconds. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms < 5_000) return "just now";
  const [size, unit] = UNITS.find(([size]) => ms >= size) as [number, string];
  return `${Math.floor(ms / size)}${unit} ago`;
}

/** When something started: the time if it was today, else the day. */
export function started(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  if (then.toDateString() === today.toDateString()) return then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const year = then.getFullYear() === today.getFullYear() ? {} : { year: "numeric" as const };
  return then.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}

/** A time in the reader's time zone. */
export function moment(at: number): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** A text whose times are in the reader's time zone. */
export function inTimeZone(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => moment(Date.parse(at)));
}

export function clock(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

const AWAITED: Record<Awaited, string> = {
  approval: "an approval",
  question: "an answer",
  operator: "a decision",
  timer: "a moment",
  event: "a signal",
  client: "its client",
  worker: "a worker",
  machine: "a decision about its machine",
};

/** What a step waits for, in words. */
export function awaited(what: Awaited[]): string {
  return what.map((one) => AWAITED[one] ?? one).join(" and ");
}

/** The worker and the machine of an attempt. If the worker's name contains the machine, the name alone is enough. */
export function by({ worker, host }: { worker?: string; host?: string }): string {
  if (!worker || !host) return worker ?? host ?? "";
  return worker.startsWith(host) ? worker : `${worker} on ${host}`;
}

const MACHINE = "host:";
const AGENT = "agent:";

/** What a worker needs for a step: labels, among them perhaps the machine with the files, or an agent with a limit on turns. */
export function waitsFor(wanted: string[]): string {
  const after = (prefix: string) => wanted.find((label) => label.startsWith(prefix))?.slice(prefix.length);
  const labels = wanted.filter((label) => !label.startsWith(MACHINE) && !label.startsWith(AGENT));
  const [host, agent] = [after(MACHINE), after(AGENT)];
  const turn = agent ? ` that may start another turn of ${agent}` : "";
  const having = labels.length ? ` with the ${labels.length === 1 ? "label" : "labels"} ${labels.join(", ")}` : "";
  return `waits for a worker${having}${turn}${host ? ` on ${host}, where the files of the run are` : ""}`;
}

const FACES: Record<Origin["face"], string> = {
  cli: "the command line",
  mcp: "an MCP client",
  dashboard: "the dashboard",
  api: "the API",
  trigger: "a trigger",
};

/** The origin of a run. */
export function origin({ face, user, client }: Origin): string {
  const name = client ?? user;
  return face === "mcp" && name ? name : name ? `${name} at ${FACES[face]}` : FACES[face];
}
