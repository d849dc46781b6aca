// The keys of the inbox: j and k move in the list.

import { type RefObject, useEffect, useRef } from "react";
import { movedTo } from "./inbox";

const STEPS: Record<string, number> = { j: 1, k: -1 };

/** Whether a key belongs to what the user types. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

/** The list whose rows the keys move between. With `choose`, a row opens as soon as it is reached. */
export function useKeys(choose: ((key: string) => void) | undefined): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const by = STEPS[event.key];
      if (by === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const rows = [...(list.current?.querySelectorAll<HTMLButtonElement>("[data-row]") ?? [])];
      const focused = rows.findIndex((row) => row === document.activeElement);
      const open = rows.findIndex((row) => row.getAttribute("aria-expanded") === "true");
      const row = rows[movedTo(focused < 0 ? open : focused, by, rows.length)];
      row?.focus();
      if (row?.dataset["row"] && choose) choose(row.dataset["row"]);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [choose]);
  return list;
}
