// Where the picture is looked at: the whole of it if that is readable, else the active part. It follows the run until a person
// moves it, and it moves to a chosen step.

import { type Node, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** The smallest scale at which a title is readable. */
const READABLE = 0.7;
const EDGE = 40;

interface Looked {
  selected: string | undefined;
  active: string | undefined;
}

export interface Camera {
  paper: RefObject<HTMLDivElement | null>;
  follows: boolean;
  follow: () => void;
  stop: () => void;
  /** Called when the view starts to move; an event means that a person moves it. */
  moved: (event: unknown) => void;
}

export function useCamera(nodes: Node[], { selected, active }: Looked): Camera {
  const flow = useReactFlow();
  const paper = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const size = useSize(paper);
  const stop = useCallback(() => setFollows(false), []);
  const center = useCallback(
    (key: string | undefined) => {
      const node = nodes.find(({ id }) => id === key);
      const { width, height } = size;
      if (!node || width === 0) return false;
      const { x, y, zoom } = flow.getViewport();
      const middle = { x: node.position.x + (node.width ?? 0) / 2, y: node.position.y + Math.min(node.height ?? 0, 100) / 2 };
      const isBetween = (at: number, end: number) => at > EDGE && at < end - EDGE;
      const isSeen = zoom >= READABLE && isBetween(middle.x * zoom + x, width) && isBetween(middle.y * zoom + y, height);
      if (!isSeen) void flow.setCenter(middle.x, middle.y, { zoom: Math.max(zoom, READABLE) });
      return true;
    },
    [flow, nodes, size],
  );
  // The picture is new, or has another size: show the whole of it, or its active part.
  useEffect(() => {
    if (!follows || size.width === 0) return;
    const whole = fitting(nodes, size);
    if (whole) void flow.setViewport(whole);
    else if (!center(selected ?? active)) void flow.setViewport(beginning(nodes, size));
  }, [flow, nodes, size, active, follows]);
  useEffect(() => {
    if (selected) center(selected);
  }, [selected, nodes]);
  const moved = useCallback((event: unknown) => event && setFollows(false), []);
  return { paper, follows, follow: useCallback(() => setFollows(true), []), stop, moved };
}

interface Size {
  width: number;
  height: number;
}

function useSize(element: RefObject<HTMLDivElement | null>): Size {
  const [size, set] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    const look = () =>
      set((before) => {
        const { clientWidth: width, clientHeight: height } = box;
        // The height of the window changes while a phone scrolls.
        return before.width === width && Math.abs(before.height - height) < 80 ? before : { width, height };
      });
    const watcher = new ResizeObserver(look);
    watcher.observe(box);
    look();
    return () => watcher.disconnect();
  }, [element]);
  return size;
}

function bounds(nodes: Node[]): { x: number; y: number; width: number; height: number } {
  const x = Math.min(...nodes.map(({ position }) => position.x));
  const y = Math.min(...nodes.map(({ position }) => position.y));
  const right = Math.max(...nodes.map(({ position, width }) => position.x + (width ?? 0)));
  const bottom = Math.max(...nodes.map(({ position, height }) => position.y + (height ?? 0)));
  return { x, y, width: right - x, height: bottom - y };
}

/** The view of the whole picture, if it is readable. */
function fitting(nodes: Node[], size: Size): { x: number; y: number; zoom: number } | undefined {
  const all = bounds(nodes);
  const zoom = Math.min(1, (size.width - 24) / all.width, (size.height - 32) / all.height);
  if (!(zoom >= READABLE)) return undefined;
  return { x: (size.width - all.width * zoom) / 2 - all.x * zoom, y: 16 - all.y * zoom, zoom };
}

/** The view of the top of the picture. */
function beginning(nodes: Node[], size: Size): { x: number; y: number; zoom: number } {
  const all = bounds(nodes);
  const zoom = Math.min(1, Math.max(READABLE, (size.width - 24) / all.width));
  return { x: Math.max(12, (size.width - all.width * zoom) / 2) - all.x * zoom, y: 16 - all.y * zoom, zoom };
}
