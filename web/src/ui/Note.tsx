// Messages for people: errors, and empty lists.

import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import type { Tone } from "./Status";
import styles from "./ui.module.css";

export function Note({ tone, children, role }: { tone: Tone; children: ReactNode; role?: "alert" | "status" }) {
  return (
    <div className={styles.note} data-tone={tone} role={role}>
      {children}
    </div>
  );
}

export function ErrorNote({ error }: { error: Error }) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <Note tone="bad" role="alert">
      <strong>{error.message}</strong>
      {problem?.detail && <p>{problem.detail}</p>}
      {problem?.diagnostics?.map((found) => (
        <p key={`${found.code}${found.line}${found.message}`}>
          {found.message}
          {found.help && <span className="quiet"> {found.help}</span>}
        </p>
      ))}
      {problem?.code && <p className="quiet mono">longhaul explain {problem.code}</p>}
    </Note>
  );
}

/** `page`: the note is the only content of the page. */
export function Empty({ title, page = false, children }: { title: string; page?: boolean; children?: ReactNode }) {
  const Heading = page ? "h1" : "h2";
  return (
    <div className={styles.empty}>
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

/** Data is on its way. */
export function Waiting({ what }: { what: string }) {
  return (
    <div className={styles.waiting} role="status">
      <span className={styles.bars} aria-hidden="true" />
      Loading {what}…
    </div>
  );
}
