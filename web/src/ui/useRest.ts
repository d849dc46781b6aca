// Gives an element the height down to the bottom of the window.

import { type RefObject, useLayoutEffect, useRef } from "react";

/** The free space below, and the smallest height. */
const BELOW = 16;
const LEAST = 320;

/** Makes an element as tall as the rest of the window, while `fits`. */
export function useRest(fits = true): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box || !fits) return;
    const fit = () => {
      box.style.height = `${Math.max(window.innerHeight - Math.max(box.getBoundingClientRect().top, 0) - BELOW, LEAST)}px`;
    };
    // The content above it also grows and shrinks.
    const above = new ResizeObserver(fit);
    above.observe(document.body);
    fit();
    window.addEventListener("scroll", fit, { passive: true });
    window.addEventListener("resize", fit);
    return () => {
      box.style.height = "";
      above.disconnect();
      window.removeEventListener("scroll", fit);
      window.removeEventListener("resize", fit);
    };
  }, [fits]);
  return element;
}
