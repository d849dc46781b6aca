// A box of limited height, with a hint as long as there is more below.

import { type ReactNode, useCallback, useLayoutEffect, useRef, useState } from "react";
import styles from "./ui.module.css";

/** Less than this is no reason for a hint. */
const SLACK = 12;

export function Clipped({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [hasMore, tell] = useState(false);
  const look = useCallback(() => {
    const element = box.current;
    if (element) tell(element.scrollHeight - element.scrollTop - element.clientHeight > SLACK);
  }, []);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(look);
    if (box.current) watcher.observe(box.current);
    if (inner.current) watcher.observe(inner.current);
    return () => watcher.disconnect();
  }, [look]);
  return (
    <div className={styles.clip} data-more={hasMore || undefined}>
      <div className={styles.clipBox} ref={box} tabIndex={0} role="group" aria-label={label} onScroll={look}>
        <div className={styles.clipInner} ref={inner}>
          {children}
        </div>
      </div>
      {hasMore && (
        <button type="button" className={styles.more} tabIndex={-1} onClick={() => box.current?.scrollBy({ top: box.current.clientHeight * 0.8 })}>
          ↓ more below
        </button>
      )}
    </div>
  );
}
