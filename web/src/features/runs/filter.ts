// The filter for runs, in the address of the page.

import type { Status } from "../../api/types";

export const STATUSES: readonly Status[] = ["queued", "running", "waiting", "paused", "stopped", "succeeded", "failed", "cancelled"];

export interface Filter {
  status?: Status[];
  workflow?: string;
  text?: string;
}

export function readFilter(search: Record<string, unknown>): Filter {
  const status = [search["status"] ?? []].flat().filter((one): one is Status => STATUSES.includes(one as Status));
  const text = (name: string) => (typeof search[name] === "string" && search[name] !== "" ? { [name]: search[name] } : {});
  return { ...(status.length ? { status } : {}), ...text("workflow"), ...text("text") };
}

/** The filter with one status more, or less. */
export function toggled(filter: Filter, status: Status): Filter {
  const { status: before = [], ...rest } = filter;
  const after = before.includes(status) ? before.filter((one) => one !== status) : [...before, status];
  return { ...rest, ...(after.length ? { status: after } : {}) };
}
