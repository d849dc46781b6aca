// A summary of the workers in one line.

import type { Roster } from "../../api/types";
import { count } from "../../ui/format";

export function summed({ workers }: Roster): string {
  const there = workers.filter((worker) => !worker.silent);
  const slots = there.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = there.reduce((sum, worker) => sum + worker.busy, 0);
  const silent = workers.length - there.length;
  const parts = [there.length > 0 && `${count(there.length, "worker")}, ${busy} of ${count(slots, "slot")} busy`, silent > 0 && `${silent} silent`];
  return parts.filter(Boolean).join(", ");
}
