// The text of a workflow, with marks on the lines that have findings.

import type { Diagnostic } from "../../api/types";
import { pieces } from "./highlight";
import styles from "./workflows.module.css";

export function Source({ text, diagnostics }: { text: string; diagnostics: Diagnostic[] }) {
  const marked = new Map(diagnostics.map((found) => [found.line, found]));
  return (
    <pre className={styles.source} tabIndex={0} aria-label="Source">
      {text
        .replace(/\n$/, "")
        .split("\n")
        .map((line, at) => {
          const found = marked.get(at + 1);
          return (
            <span key={at} className={styles.sourceLine} data-severity={found?.severity} title={found?.message}>
              <span className={styles.number} aria-hidden="true">
                {at + 1}
              </span>
              <span>
                {pieces(line).map((piece, at) =>
                  piece.kind === "plain" ? (
                    piece.text
                  ) : (
                    <span key={at} data-piece={piece.kind}>
                      {piece.text}
                    </span>
                  ),
                )}
                {"\n"}
              </span>
            </span>
          );
        })}
    </pre>
  );
}
