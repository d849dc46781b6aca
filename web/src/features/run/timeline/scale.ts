// The axis of time of a run. Time in which nothing happened, such as the nights between an end and a retry, takes a small fixed
// part of it.

import type { Span } from "../../../api/types";

export interface Gap {
  from: number;
  to: number;
}

export interface Scale {
  start: number;
  end: number;
  gaps: Gap[];
  /** How long something happened. */
  work: number;
  /** The place of a moment, from 0 to 1. */
  at: (moment: number) => number;
  /** The moment at a place. */
  moment: (place: number) => number;
}

/** The shortest time in which nothing happened that is left out. */
const GAP_MS = 5_000;
/** A gap must also be this part of the rest. */
const GAP_PART = 0.05;
/** The part of the axis for each gap, and for all of them. */
const GAP_WIDTH = 0.03;
const GAPS_WIDTH = 0.3;

export function scale(spans: readonly Pick<Span, "from" | "to">[], start: number, end: number): Scale {
  const busy = union(spans, start, end);
  const work = busy.reduce((sum, { from, to }) => sum + to - from, 0);
  const least = Math.max(GAP_MS, work * GAP_PART);
  const between = busy.slice(1).map(({ from }, at) => ({ from: busy[at]?.to ?? from, to: from }));
  const last = busy.at(-1);
  // Without any span, everything counts: the run has just started, or an old version recorded it.
  const outside = last ? [{ from: start, to: busy[0]?.from ?? start }, { from: last.to, to: end }] : [];
  const gaps = [...outside.slice(0, 1), ...between, ...outside.slice(1)].filter(({ from, to }) => to - from > least);
  return { start, end, gaps, work: end - start - gaps.reduce((sum, { from, to }) => sum + to - from, 0), ...axis(start, end, gaps) };
}

/** The times in which something happened, in order and without overlap. */
function union(spans: readonly Pick<Span, "from" | "to">[], start: number, end: number): Gap[] {
  const sorted = spans
    .map(({ from, to }) => ({ from: Math.max(from, start), to: Math.min(Math.max(to ?? end, from), end) }))
    .sort((a, b) => a.from - b.from);
  const found: Gap[] = [];
  for (const span of sorted) {
    const last = found.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else found.push({ ...span });
  }
  return found;
}

/** Straight pieces between the ends of gaps. */
function axis(start: number, end: number, gaps: Gap[]): Pick<Scale, "at" | "moment"> {
  const idle = gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  const rest = Math.max(end - start - idle, 1);
  const width = Math.min(GAP_WIDTH, GAPS_WIDTH / Math.max(gaps.length, 1));
  const share = 1 - width * gaps.length;
  const points: [number, number][] = [[start, 0]];
  let place = 0;
  let moment = start;
  for (const { from, to } of gaps) {
    place += ((from - moment) / rest) * share;
    points.push([from, place]);
    place += width;
    points.push([to, place]);
    moment = to;
  }
  points.push([Math.max(end, start + 1), 1]);
  return { at: (value) => along(points, value, 0, 1), moment: (value) => along(points, value, 1, 0) };
}

function along(points: [number, number][], value: number, from: 0 | 1, to: 0 | 1): number {
  const next = points.findIndex((point, at) => at > 0 && value <= point[from]);
  const at = next < 0 ? points.length - 1 : next;
  const [a, b] = [points[at - 1] as [number, number], points[at] as [number, number]];
  const part = b[from] === a[from] ? 0 : (value - a[from]) / (b[from] - a[from]);
  return a[to] + Math.min(Math.max(part, 0), 1) * (b[to] - a[to]);
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168].map((n) => n * HOUR),
];

export interface Tick {
  moment: number;
  place: number;
}

/** The marks on the axis between two places: round times since the start, at most so many in view. */
export function ticks(scale: Scale, most: number): Tick[] {
  const { start, end, gaps, work } = scale;
  const step = STEPS.find((step) => work / step <= most) ?? Math.max(work / most, 1);
  const found: Tick[] = [];
  const inGap = (moment: number) => gaps.find(({ from, to }) => moment > from && moment < to);
  for (let moment = start; moment <= end; moment += step) {
    const gap = inGap(moment);
    // Over a long gap in one go: there are no marks in it.
    if (gap) moment = start + Math.ceil((gap.to - start) / step) * step;
    if (moment <= end) found.push({ moment, place: scale.at(moment) });
  }
  return found;
}
