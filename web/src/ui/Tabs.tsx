// Tabs that work with the arrow keys.

import type { KeyboardEvent } from "react";
import styles from "./ui.module.css";

interface Props<T extends string> {
  label: string;
  tabs: readonly { id: T; title: string; hidden?: boolean }[];
  chosen: T;
  choose: (id: T) => void;
  /** The beginning of the ids of the tabs, if a page has several rows of tabs. */
  prefix?: string;
}

export function Tabs<T extends string>({ label, tabs, chosen, choose, prefix = "tab" }: Props<T>) {
  const shown = tabs.filter((tab) => !tab.hidden);
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const at = shown.findIndex((tab) => tab.id === chosen);
    const next = shown[(at + by + shown.length) % shown.length];
    if (!next) return;
    choose(next.id);
    document.getElementById(`${prefix}-${next.id}`)?.focus();
  };
  return (
    <div className={styles.tabs} role="tablist" aria-label={label} onKeyDown={move}>
      {shown.map(({ id, title }) => (
        <button
          key={id}
          id={`${prefix}-${id}`}
          type="button"
          role="tab"
          className={styles.tab}
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => choose(id)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
