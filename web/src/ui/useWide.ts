// Whether the window is wide enough for two columns.

import { useSyncExternalStore } from "react";

const wide = matchMedia("(min-width: 1100px)");

function follow(changed: () => void): () => void {
  wide.addEventListener("change", changed);
  return () => wide.removeEventListener("change", changed);
}

export function useWide(): boolean {
  return useSyncExternalStore(follow, () => wide.matches);
}
