// Where a run is now.

import type { Graph, StepStatus } from "../../../api/types";
import type { NodeState } from "./nodes";

const FIRST: readonly StepStatus[] = ["waiting", "running", "failed"];

/** The node to look at: what waits for a person, then what is running, then what failed, then what ended last. */
export function activeKey(graph: Graph, states: ReadonlyMap<string, NodeState> | undefined): string | undefined {
  if (!states) return undefined;
  const leaves = graph.nodes.filter(({ group, kind }) => !group && kind !== "workflow");
  for (const wanted of FIRST) {
    const found = leaves.find(({ key }) => states.get(key)?.status === wanted);
    if (found) return found.key;
  }
  return leaves.findLast(({ key }) => states.get(key)?.status === "succeeded")?.key ?? graph.nodes.find(({ start }) => start)?.key;
}
