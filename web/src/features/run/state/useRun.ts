// The run that a page watches.

import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { RunStore } from "./store";

export const WatchedRun = createContext<RunStore | undefined>(undefined);

/** Watches a run for as long as the component is there. */
export function useRun(run: string): RunStore {
  const store = useMemo(() => new RunStore(run), [run]);
  useEffect(() => store.begin(), [store]);
  useSyncExternalStore(store.subscribe, () => store.version);
  return store;
}

/** The run that is watched further up. */
export function useWatched(): RunStore {
  const store = useContext(WatchedRun);
  if (!store) throw new Error("no run is watched here");
  return store;
}
