// The data of nodes that changes with every event; the nodes themselves do not.

import { createContext, useContext } from "react";
import type { StepStatus } from "../../../api/types";
import type { NodeState, Places, Turns } from "./nodes";

export interface GraphContext {
  places: Places;
  states: Map<string, NodeState> | undefined;
  counts: Map<string, number> | undefined;
  turns: Turns | undefined;
  setTurn: ((key: string, turn: number | undefined) => void) | undefined;
  selected: string | undefined;
  select: ((key: string) => void) | undefined;
  critical: ReadonlySet<string> | undefined;
  unreached: StepStatus;
  open: ReadonlySet<string>;
  toggle: (unit: string) => void;
  /** What is inside each folded part. */
  members: ReadonlyMap<string, readonly string[]>;
  /** Opens or closes a container or a folded part. */
  choose: ((key: string, open: boolean) => void) | undefined;
  /** The part is open, and was folded before. */
  unfolded: ReadonlySet<string>;
}

const Context = createContext<GraphContext | undefined>(undefined);

export const Looks = Context.Provider;

export function useLooks(): GraphContext {
  const looks = useContext(Context);
  if (!looks) throw new Error("a node stands outside of a picture");
  return looks;
}
