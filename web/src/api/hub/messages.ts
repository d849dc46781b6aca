// What tabs and the hub say to each other.

/** The state of the connection to the server. */
export type Connection = "open" | "lost";

/** A tab says everything that it wants each time, so a hub that forgot it, or is new, learns it again. */
export type FromTab =
  | { kind: "wants"; tab: string; list: boolean; runs: Wanted[] }
  | { kind: "bye"; tab: string };

/** A run that a tab watches, and the last event that it has. */
export interface Wanted {
  run: string;
  after: number;
}

export type FromHub =
  | { kind: "connection"; connection: Connection }
  /** An event of the list, or of a run. */
  | { kind: "event"; run?: string; name: string; data: unknown }
  /** From here on, the stream of the list is complete: the list must be read after it. */
  | { kind: "ready" }
  /** This browser cannot have a hub there. */
  | { kind: "unable" };
