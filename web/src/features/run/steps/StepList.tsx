// The steps of a run; only those on the screen are made.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Path } from "../../../api/types";
import { useView } from "../state/view";
import { useWatched } from "../state/useRun";
import type { FlatStep, Fold } from "../state/fold";
import { type Row, rows } from "./rows";
import { StepCard } from "./StepCard";
import styles from "./steps.module.css";

/** The height of the header that covers the page. */
const BAR = 60;

export function StepList() {
  const { fold } = useWatched();
  const { places, turns, selected } = useView();
  const [closed, close] = useState<ReadonlySet<Path>>(new Set());
  const [opened, open] = useState<ReadonlyMap<Path, boolean>>(new Map());
  const shape = fold?.shape;
  const list = useMemo(() => (fold ? rows(fold, places, turns, closed) : []), [fold, shape, places, turns, closed]);
  const current = useCurrent(list, fold);
  const element = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const found = element.current ? element.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(found - top) > 1) setTop(found);
  });
  const virtual = useWindowVirtualizer({
    count: list.length,
    estimateSize: () => 46,
    overscan: 8,
    scrollMargin: top,
    scrollPaddingStart: BAR,
    getItemKey: (at) => list[at]?.path ?? at,
  });
  const measured = top > 0;
  useEffect(() => {
    const at = measured ? list.findIndex((row) => row.path === selected) : -1;
    const item = virtual.getVirtualItems().find((item) => item.index === at);
    const isSeen = item && item.start >= window.scrollY + BAR && item.end <= window.scrollY + window.innerHeight;
    if (at > 0 && !isSeen) virtual.scrollToIndex(at, { align: "start" });
  }, [selected, measured]);
  return (
    <div ref={element} className={styles.list} role="list" aria-label="Steps" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const row = list[item.index];
        const step = row && fold?.steps.get(row.path);
        if (!row || !step) return null;
        const isOpen = opened.get(row.path) ?? ((step.status === "failed" && !row.holds) || row.path === selected || row.path === current);
        return (
          <div
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            role="listitem"
            className={styles.item}
            style={{ transform: `translateY(${item.start - top}px)` }}
          >
            <StepCard
              row={row}
              step={step}
              open={isOpen}
              toggle={() => open(new Map(opened).set(row.path, !isOpen))}
              closed={closed.has(row.path)}
              fold={() => close(toggled(closed, row.path))}
            />
          </div>
        );
      })}
    </div>
  );
}

/** The current step is open: the running one that started last. */
function useCurrent(list: Row[], fold: Fold | undefined): Path | undefined {
  let current: FlatStep | undefined;
  for (const { path, holds } of list) {
    const step = fold?.steps.get(path);
    if (!step || holds || step.status !== "running" || !fold?.open.has(path)) continue;
    if (!current || (step.started_at ?? 0) > (current.started_at ?? 0)) current = step;
  }
  return current?.path;
}

function toggled(set: ReadonlySet<Path>, path: Path): ReadonlySet<Path> {
  const next = new Set(set);
  if (!next.delete(path)) next.add(path);
  return next;
}
