// The list itself. Only the visible rows are made, so ten thousand runs are as fast as ten.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { RunRow } from "../../api/types";
import { useNow } from "../../ui/useNow";
import { RunLine } from "./RunLine";
import styles from "./runs.module.css";

export function RunList({ runs, more }: { runs: RunRow[]; more: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => 57,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (at) => runs[at]?.run ?? at,
  });
  const now = useNow(true);
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= runs.length - 20) more();
  }, [last, runs.length, more]);
  return (
    <div ref={list} role="list" aria-label="Runs" className={styles.list} style={{ height: rows.getTotalSize() }}>
      {items.map((item) => {
        const row = runs[item.index];
        return (
          row && (
            <div
              key={item.key}
              ref={rows.measureElement}
              data-index={item.index}
              role="listitem"
              aria-setsize={runs.length}
              aria-posinset={item.index + 1}
              className={styles.item}
              style={{ transform: `translateY(${item.start - top}px)` }}
            >
              <RunLine row={row} now={now} />
            </div>
          )
        );
      })}
    </div>
  );
}
