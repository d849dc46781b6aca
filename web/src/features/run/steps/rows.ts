// The steps of a run as rows of a list.

import type { Path } from "../../../api/types";
import { isShown, type Places, type Turns } from "../graph/nodes";
import type { Fold } from "../state/fold";

export interface Row {
  path: Path;
  depth: number;
  /** Whether other steps are inside it. */
  holds: boolean;
}

/** The visible rows: all steps in order, without closed ones and without turns that are not chosen. */
export function rows(fold: Fold, places: Places, turns: Turns, closed: ReadonlySet<Path>): Row[] {
  const found: Row[] = [];
  const open = [...(fold.inside.get("") ?? [])].reverse().map((path) => ({ path, depth: 0 }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { path, depth } = next;
    const place = places.of(path);
    if (place && !isShown(place, turns)) continue;
    const inner = fold.inside.get(path) ?? [];
    found.push({ path, depth, holds: inner.length > 0 });
    if (!closed.has(path)) for (let at = inner.length - 1; at >= 0; at -= 1) open.push({ path: inner[at] as Path, depth: depth + 1 });
  }
  return found;
}
