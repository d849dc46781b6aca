// A box for a text that grows: it stays at the end until a person scrolls up.

import type { ReactNode } from "react";
import styles from "./ui.module.css";
import { useTail } from "./useTail";

export function TailBox({ grown, going, label, children }: { grown: unknown; going: boolean; label: string; children: ReactNode }) {
  const { box, follows, scrolled, toEnd } = useTail(grown, going);
  return (
    <div className={styles.tail}>
      <div ref={box} className={styles.tailBox} tabIndex={0} role="group" aria-label={label} onScroll={scrolled}>
        {children}
      </div>
      {!follows && (
        <button type="button" className={styles.toEnd} onClick={toEnd}>
          ↓ Jump to the end
        </button>
      )}
    </div>
  );
}
