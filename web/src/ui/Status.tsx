// Shows a status by shape, colour and word, never by one of them alone.

import type { Status as RunStatus, StepStatus } from "../api/types";
import styles from "./ui.module.css";

export type Tone = "good" | "bad" | "busy" | "wait" | "none";

const TONES: Record<RunStatus | StepStatus, Tone> = {
  succeeded: "good",
  failed: "bad",
  running: "busy",
  waiting: "wait",
  paused: "wait",
  stopped: "wait",
  queued: "none",
  pending: "none",
  skipped: "none",
  cancelled: "none",
};

/** The paths, in a square of 12. */
const SHAPES: Record<RunStatus | StepStatus, string> = {
  succeeded: "M2 6.5 5 9.5 10.5 3",
  failed: "M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5",
  running: "M6 1.5A4.5 4.5 0 1 1 1.5 6",
  waiting: "M6 2.5V6.2L8.4 8M6 .9a5.1 5.1 0 1 0 .01 0",
  paused: "M4 2.5v7M8 2.5v7",
  stopped: "M3 3h6v6H3zM5 6h2",
  queued: "M2 6h.01M6 6h.01M10 6h.01",
  pending: "M6 2a4 4 0 1 0 .01 0",
  skipped: "M2 3l4 3-4 3M7 3l4 3-4 3",
  cancelled: "M3 3h6v6H3z",
};

export function toneOf(status: RunStatus | StepStatus): Tone {
  return TONES[status];
}

export function StatusIcon({ status, size = 12 }: { status: RunStatus | StepStatus; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 12 12"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={status === "running" ? styles.turning : undefined}
    >
      <path d={SHAPES[status]} />
    </svg>
  );
}

export function Status({ status, word = status }: { status: RunStatus | StepStatus; word?: string }) {
  return (
    <span className={styles.status} data-tone={TONES[status]} data-status={status}>
      <StatusIcon status={status} />
      {word}
    </span>
  );
}
