// Keeps a box at its end while it grows, until a person scrolls up.

import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

/** How near to the end counts as the end. */
const NEAR = 24;

export interface Tail {
  box: RefObject<HTMLDivElement | null>;
  follows: boolean;
  scrolled: () => void;
  toEnd: () => void;
}

/** `grown`: a value that changes when the content grows. `going`: whether it starts at the end. */
export function useTail(grown: unknown, going: boolean): Tail {
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(going);
  const toEnd = useCallback(() => {
    setFollows(true);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  const scrolled = useCallback(() => {
    const { current } = box;
    if (current) setFollows(current.scrollHeight - current.scrollTop - current.clientHeight < NEAR);
  }, []);
  useLayoutEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [grown, follows]);
  return { box, follows, scrolled, toEnd };
}
