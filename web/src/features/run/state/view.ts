// The selection in a run, in one place, because the list, the picture and the address of the page share it.

import { createContext, useContext } from "react";
import type { Path } from "../../../api/types";
import type { Places, Turns } from "../graph/nodes";

export interface View {
  places: Places;
  turns: Turns;
  setTurn: (key: string, turn: number | undefined) => void;
  selected: Path | undefined;
  select: (path: Path) => void;
  now: number;
}

export const LookedAt = createContext<View | undefined>(undefined);

export function useView(): View {
  const view = useContext(LookedAt);
  if (!view) throw new Error("nothing is looked at here");
  return view;
}
