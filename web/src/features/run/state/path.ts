// Paths of steps inside a run: `tasks[3]/review`, `gate#2`. See the server's description of paths.

import type { Path } from "../../../api/types";

export interface Segment {
  id: string;
  /** The number of the visit, from 1. */
  visit: number;
  /** The item, round or branch of the step that contains the next segment. */
  index?: number;
}

export function segments(path: Path): Segment[] {
  return path.split("/").map(segment);
}

function segment(text: string): Segment {
  const match = /^(.*?)(?:#(\d+))?(?:\[(\d+)\])?$/.exec(text);
  const [, id = text, visit, index] = match ?? [];
  return { id, visit: visit ? Number(visit) : 1, ...(index === undefined ? {} : { index: Number(index) }) };
}

/** The container of a step, without the number of its item: `tasks` for `tasks[3]/review`. */
export function container(path: Path): Path | undefined {
  const cut = path.lastIndexOf("/");
  return cut < 0 ? undefined : path.slice(0, cut).replace(/\[\d+\]$/, "");
}

/** The item or round of its container that a step is in. */
export function indexInside(path: Path): number | undefined {
  const match = /\[(\d+)\]\/[^/]*$/.exec(path);
  return match ? Number(match[1]) : undefined;
}

/** The last part of a path, as shown inside its container. */
export function lastPart(path: Path): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a step is inside another one. */
export function isInside(path: Path, outer: Path): boolean {
  return path.startsWith(outer) && (path[outer.length] === "/" || path[outer.length] === "[");
}
