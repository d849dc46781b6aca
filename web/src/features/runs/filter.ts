// The filter for runs, in the address of the page.

import type { RunsFilter } from "../../api/queries";
import type { Status } from "../../api/types";
import { type Days, isDay, moments, type Time, TIMES } from "./times";

export const STATUSES: readonly Status[] = ["queued", "running", "waiting", "paused", "stopped", "succeeded", "failed", "cancelled"];

export interface Filter extends Days {
  status?: Status[];
  workflow?: string;
  text?: string;
}

export function readFilter(search: Record<string, unknown>): Filter {
  const status = [search["status"] ?? []].flat().filter((one): one is Status => STATUSES.includes(one as Status));
  const text = (name: string) => (typeof search[name] === "string" && search[name] !== "" ? { [name]: search[name] } : {});
  const day = (name: "from" | "to") => (isDay(search[name]) ? { [name]: search[name] } : {});
  const time = Object.keys(TIMES).includes(String(search["time"])) ? { time: search["time"] as Time } : {};
  return { ...(status.length ? { status } : {}), ...text("workflow"), ...text("text"), ...time, ...day("from"), ...day("to") };
}

/** The filter with one status more, or less. */
export function toggled(filter: Filter, status: Status): Filter {
  const { status: before = [], ...rest } = filter;
  const after = before.includes(status) ? before.filter((one) => one !== status) : [...before, status];
  return { ...rest, ...(after.length ? { status: after } : {}) };
}

/** The filter as the server takes it. */
export function asked({ status, workflow, text, ...days }: Filter, now: number): RunsFilter {
  return { ...(status ? { status } : {}), ...(workflow ? { workflow } : {}), ...(text ? { text } : {}), ...moments(days, now) };
}
