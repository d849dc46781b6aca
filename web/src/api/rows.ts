// Tells about the rows of runs as the stream brings them.

import type { RunRow } from "./types";

type Listener = (row: RunRow) => void;

const listeners = new Set<Listener>();

export function tellRow(row: RunRow): void {
  for (const listener of listeners) listener(row);
}

/** Listens until the returned function is called. */
export function onRow(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
