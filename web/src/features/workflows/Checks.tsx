// The findings of the checker, each with its line and its fix.

import type { Diagnostic } from "../../api/types";
import { Note } from "../../ui/Note";
import { Words } from "../../ui/Words";
import styles from "./workflows.module.css";

const TONES = { error: "bad", warning: "wait", note: "busy" } as const;

export function Checks({ diagnostics, source }: { diagnostics: Diagnostic[]; source: string }) {
  const lines = source.split("\n");
  if (diagnostics.length === 0) return <p>It has no mistakes.</p>;
  return (
    <ul className={styles.checks}>
      {diagnostics.map((found) => (
        <li key={`${found.code} ${found.line} ${found.column}`}>
          <Note tone={TONES[found.severity]}>
            <p>
              <strong>{found.severity}</strong> <span className="mono">{found.code}</span>: <Words text={found.message} />
            </p>
            <pre className={styles.excerpt}>
              <span className="quiet">{found.line} | </span>
              {lines[found.line - 1]?.trim()}
            </pre>
            {found.help && (
              <p>
                <span className="quiet">remedy:</span> <Words text={found.help} />
              </p>
            )}
          </Note>
        </li>
      ))}
    </ul>
  );
}
