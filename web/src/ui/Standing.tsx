// Where a run stands: running, stopped by somebody, waiting for you or for a time, or without an engine.

import type { Standing as Stands, Status as RunStatus } from "../api/types";
import { moment } from "./format";
import { Status } from "./Status";
import styles from "./ui.module.css";
import { Words } from "./Words";

const WORDS: Partial<Record<Stands["is"], string>> = { needs_you: "needs you", no_engine: "no engine" };

/** The word for a run: its status, or more exactly what it needs. */
export function StandingWord({ status, standing }: { status: RunStatus; standing?: Stands | undefined }) {
  const isOver = status === "succeeded" || status === "failed" || status === "cancelled";
  const word = standing && !isOver && WORDS[standing.is];
  if (!word) return <Status status={status} />;
  return <Status status="waiting" word={word} />;
}

/** The line for a run: who stopped it, what it asks, until when it waits, what to type. */
export function StandingLine({ standing }: { standing?: Stands | undefined }) {
  if (!standing) return null;
  const { is, text, by, until, command } = standing;
  const parts = [
    text && <Words key="text" text={text} />,
    !text && is === "stopped" && by && `stopped by ${by}`,
    until !== undefined && !text?.includes("until") && `until ${moment(until)}`,
    command && (is === "no_engine" || is === "stopped") && !text?.includes(command) && <code key="command">{command}</code>,
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <span className={styles.standing} data-is={is}>
      {parts.map((part, at) => (
        <span key={at}>{part}</span>
      ))}
    </span>
  );
}
