// The run that a page watches.

import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { RunStore } from "./store";

export const WatchedRun = createContext<RunStore | undefined>(undefined);

/** Watches a run while the component is mounted. */
export function useRun(run: string): RunStore {
  const store = useMemo(() => new RunStore(run), [run]);
  useEffect(() => store.begin(), [store]);
  useSyncExternalStore(store.subscribe, () => store.version);
  return store;
}

/** The watched run of a parent component. */
export function useWatched(): RunStore {
  const store = useContext(WatchedRun);
  if (!store) throw new Error("no run is watched here");
  return store;
}
