// When a step was running, relative to the whole run.

import type { Path, Span } from "../../../api/types";
import { by, duration } from "../../../ui/format";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import styles from "./steps.module.css";

export function SpanBar({ path }: { path: Path }) {
  const { fold, skew } = useWatched();
  const { now } = useView();
  const spans = fold?.spans.of(path) ?? [];
  if (!fold || spans.length === 0) return null;
  const { started_at, ended_at } = fold.head;
  const end = ended_at ?? now + skew;
  const axis = fold.axis(end);
  const at = (moment: number) => 100 * axis.at(moment);
  return (
    <svg
      className={styles.spans}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label={spans.map((span) => spanWords(span, started_at, end)).join("; ")}
    >
      {spans.map((span) => (
        <rect
          key={`${span.from} ${nameOf(span)}`}
          data-what={nameOf(span)}
          data-end={span.end}
          x={at(span.from)}
          width={Math.max(at(span.to ?? end) - at(span.from), 0.6)}
          y="0"
          height="4"
        >
          <title>{spanWords(span, started_at, end)}</title>
        </rect>
      ))}
    </svg>
  );
}

export function nameOf({ what }: Span): string {
  return typeof what === "string" ? what : "attempt" in what ? "attempt" : "pause";
}

export function spanWords(span: Span, start: number, end: number): string {
  const which = typeof span.what === "object" && "attempt" in span.what ? `attempt ${span.what.attempt}` : nameOf(span);
  const who = span.worker || span.host ? ` by ${by(span)}` : "";
  return `${which}${who} after ${duration(span.from - start)}, for ${duration((span.to ?? end) - span.from)}${span.end ? `, ${span.end}` : ""}`;
}
