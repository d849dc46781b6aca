// Something that ends where the window ends, wherever it begins.

import { type RefObject, useLayoutEffect, useRef } from "react";

/** What stays free below, and what it never gets smaller than. */
const BELOW = 16;
const LEAST = 320;

/** Keeps an element as tall as the rest of the window, while `fits`. */
export function useRest(fits = true): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box || !fits) return;
    const fit = () => {
      box.style.height = `${Math.max(window.innerHeight - Math.max(box.getBoundingClientRect().top, 0) - BELOW, LEAST)}px`;
    };
    // What stands above it grows and shrinks, too.
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
