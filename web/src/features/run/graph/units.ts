// Sub-workflows stand beside the workflow, closed until somebody opens them.

import type { Graph } from "../../../api/types";

/** The nodes that are not shown: sub-workflows that are closed, and what is inside them. */
export function hiddenKeys(graph: Graph, open: ReadonlySet<string>): ReadonlySet<string> {
  const hidden = new Set<string>();
  for (const { key, kind, parent } of graph.nodes) {
    // A group comes before what it holds.
    const closed = kind === "unit" && !open.has(key);
    if (closed || (parent !== undefined && hidden.has(parent))) hidden.add(key);
  }
  return hidden;
}
