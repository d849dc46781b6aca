// The clock of the page, for durations that grow.

import { useEffect, useState } from "react";

/** The moment, again every so often while something is going on. */
export function useNow(going: boolean, every = 1_000): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    if (!going) return;
    set(Date.now());
    const timer = setInterval(() => set(Date.now()), every);
    return () => clearInterval(timer);
  }, [going, every]);
  return now;
}
