// Sub-workflows are drawn beside the workflow, closed until the user opens them.

import type { Graph } from "../../../api/types";

/** The hidden nodes: closed sub-workflows, and everything inside them. */
export function hiddenKeys(graph: Graph, open: ReadonlySet<string>): ReadonlySet<string> {
  const hidden = new Set<string>();
  for (const { key, kind, parent } of graph.nodes) {
    // A group comes before its content.
    const closed = kind === "unit" && !open.has(key);
    if (closed || (parent !== undefined && hidden.has(parent))) hidden.add(key);
  }
  return hidden;
}
