// A text with the numbers of its lines, and the findings of the checker beside them.

import { useRef } from "react";
import type { Diagnostic } from "../../api/types";
import { marks } from "./fix";
import styles from "./fix.module.css";

interface Props {
  text: string;
  type: (text: string) => void;
  diagnostics: Diagnostic[];
}

export function Editor({ text, type, diagnostics }: Props) {
  const numbers = useRef<HTMLOListElement>(null);
  const marked = marks(diagnostics);
  const lines = text.split("\n").map((_, at) => at + 1);
  return (
    <div className={styles.editor}>
      <ol ref={numbers} className={styles.numbers} aria-hidden="true">
        {lines.map((line) => (
          <li key={line} data-severity={marked.get(line)?.severity} title={marked.get(line)?.message}>
            {line}
          </li>
        ))}
      </ol>
      <textarea
        className={styles.text}
        aria-label="The text of the workflow"
        aria-invalid={diagnostics.some(({ severity }) => severity === "error")}
        spellCheck={false}
        wrap="off"
        value={text}
        onChange={({ target }) => type(target.value)}
        onScroll={({ currentTarget }) => numbers.current?.scrollTo({ top: currentTarget.scrollTop })}
      />
    </div>
  );
}
