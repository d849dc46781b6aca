// A field for a text.

import { type ReactNode, useId } from "react";
import styles from "./ui.module.css";

interface Props {
  label: string;
  text: string;
  type: (text: string) => void;
  hint?: ReactNode;
  rows?: number;
}

export function Field({ label, hint, text, type, rows = 2 }: Props) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={styles.input}
        value={text}
        rows={rows}
        aria-describedby={hint ? `${id}-about` : undefined}
        onChange={(event) => type(event.target.value)}
      />
      {hint && (
        <span id={`${id}-about`} className={styles.hint}>
          {hint}
        </span>
      )}
    </div>
  );
}
