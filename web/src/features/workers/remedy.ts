// Suggests how to help a step that no worker can run.

import type { OpenDuty } from "../../api/types";

/** Labels that every worker has by itself, from its system and architecture. */
const OWN: ReadonlySet<string> = new Set(["linux", "macos", "x86_64", "aarch64"]);

/** Where to start a worker, and with which command. */
export function remedy({ labels, host }: Pick<OpenDuty, "labels" | "host">): { where: string; command: string } {
  const own = labels.filter((label) => OWN.has(label));
  const given = labels.filter((label) => !OWN.has(label));
  const machine = host ? ` on ${host}` : own.length ? ` on a machine with ${own.join(" and ")}` : "";
  return { where: `Start a worker${machine}:`, command: given.length ? `longhaul worker --labels ${given.join(",")}` : "longhaul worker" };
}
