// When each step was running, over the whole width, with an axis of time.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Path, Span } from "../../../api/types";
import { clock, duration } from "../../../ui/format";
import { lastPart } from "../state/path";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { nameOf, spanWords } from "../steps/SpanBar";
import { type Scale, scale, ticks } from "./scale";
import styles from "./timeline.module.css";

const ROW = 26;
const ZOOM_MAX = 256;
const MARKS = 8;

export function Timeline() {
  const { fold, version, skew } = useWatched();
  const { now, selected, select } = useView();
  const [zoom, setZoom] = useState(1);
  const end = fold?.head.ended_at ?? now + skew;
  const axis = useMemo(() => scale(fold?.timeline ?? [], fold?.head.started_at ?? 0, end), [fold, version, end]);
  const paths = useMemo(() => pathsOf(fold?.timeline ?? []), [fold, version]);
  const element = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const found = element.current ? element.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(found - top) > 1) setTop(found);
  });
  const rows = useWindowVirtualizer({ count: paths.length, estimateSize: () => ROW, overscan: 12, scrollMargin: top });
  if (!fold) return null;
  if (paths.length === 0) return <p className="quiet">No step has started yet.</p>;
  return (
    <section className={styles.timeline} aria-label="Timeline">
      <Tools zoom={zoom} set={setZoom} axis={axis} />
      <div className={styles.scroll} tabIndex={0} role="group" aria-label="Time">
        <div className={styles.paper} style={{ width: `max(100%, calc(var(--names) + ${zoom} * (100% - var(--names))))` }}>
          <Axis axis={axis} most={MARKS * zoom} />
          <div ref={element} role="list" aria-label="Steps over time" className={styles.rows} style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map((item) => {
              const path = paths[item.index] as Path;
              const spans = fold.spans.of(path);
              return (
                <div key={path} role="listitem" className={styles.row} data-selected={path === selected} style={{ transform: `translateY(${item.start - top}px)` }}>
                  <button type="button" className={styles.name} title={path} onClick={() => select(path)}>
                    {fold.steps.get(path)?.name ?? lastPart(path)}
                    {path.includes("/") && <span className="quiet"> {path.slice(0, path.lastIndexOf("/"))}</span>}
                  </button>
                  <div className={styles.lane}>
                    {spans.map((span) => (
                      <Bar key={`${span.from} ${nameOf(span)}`} span={span} axis={axis} />
                    ))}
                  </div>
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </section>
  );
}

/** The steps with spans, in the order in which they started. */
function pathsOf(spans: readonly Span[]): Path[] {
  return [...new Set([...spans].sort((a, b) => a.from - b.from).map(({ path }) => path))];
}

function Bar({ span, axis }: { span: Span; axis: Scale }) {
  const [from, to] = [axis.at(span.from), axis.at(span.to ?? axis.end)];
  const words = spanWords(span, axis.start, axis.end);
  return (
    <span
      role="img"
      className={styles.bar}
      data-what={nameOf(span)}
      data-end={span.end}
      aria-label={words}
      title={words}
      style={{ left: `${100 * from}%`, width: `max(3px, ${100 * (to - from)}%)` }}
    />
  );
}

function Axis({ axis, most }: { axis: Scale; most: number }) {
  return (
    <div className={styles.axis} aria-hidden="true">
      {ticks(axis, most).map(({ moment, place }) => (
        <span key={moment} className={styles.tick} title={clock(moment)} style={{ left: `${100 * place}%` }}>
          {moment === axis.start ? "0" : duration(moment - axis.start)}
        </span>
      ))}
      {axis.gaps.map(({ from, to }) => (
        <span
          key={from}
          className={styles.gap}
          title={`nothing happened for ${duration(to - from)}`}
          style={{ left: `${100 * axis.at(from)}%`, width: `${100 * (axis.at(to) - axis.at(from))}%` }}
        />
      ))}
    </div>
  );
}

function Tools({ zoom, set, axis }: { zoom: number; set: (zoom: number) => void; axis: Scale }) {
  const idle = axis.end - axis.start - axis.work;
  return (
    <div className={styles.tools}>
      <span>
        {duration(axis.work)} of work{idle > 0 && `, and ${duration(idle)} in which nothing happened`}
      </span>
      <span className={styles.zoom}>
        <button type="button" disabled={zoom <= 1} onClick={() => set(Math.max(1, zoom / 2))} aria-label="Show more time">
          −
        </button>
        <span className="numbers">{zoom}×</span>
        <button type="button" disabled={zoom >= ZOOM_MAX} onClick={() => set(Math.min(ZOOM_MAX, zoom * 2))} aria-label="Show less time, larger">
          +
        </button>
      </span>
    </div>
  );
}
