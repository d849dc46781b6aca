// A run in one line: its status, its name, what it waits for, its duration and its cost.

import { Link } from "@tanstack/react-router";
import type { RunRow } from "../../api/types";
import { ago, awaited, count, duration, money, moment, origin, started } from "../../ui/format";
import { StandingLine, StandingWord } from "../../ui/Standing";
import { Words } from "../../ui/Words";
import styles from "./runs.module.css";

export function RunLine({ row, now }: { row: RunRow; now: number }) {
  const { run, workflow, status, summary } = row;
  const end = summary.ended_at ?? (isOver(row) ? row.updated_at : now);
  return (
    <Link to="/runs/$run" params={{ run }} search={{}} className={styles.line} data-run={run}>
      <StandingWord status={status} standing={row.standing} />
      <span className={styles.what}>
        <span className={styles.task}>{summary.task || workflow}</span>
        <span className={styles.about}>
          <span className={styles.workflow}>{workflow}</span> <span className="mono">{run}</span>
          {row.owner && <span>by {origin(row.owner)}</span>}
          {row.parent && <span>for {row.parent}</span>}
        </span>
        <Waits row={row} />
      </span>
      <span className={styles.numbers}>
        <span title="Duration">{duration(end - summary.started_at)}</span>
        <span title="Cost">{money(summary.usd)}</span>
        <span title={`${moment(summary.started_at)}, ${ago(summary.started_at, now)}`}>{started(summary.started_at, now)}</span>
        <span className={styles.done}>{count(summary.done, "step")} done</span>
      </span>
    </Link>
  );
}

function isOver({ status }: Pick<RunRow, "status">): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}

/** What it waits for, or why it failed. */
function Waits({ row: { status, standing, summary } }: { row: RunRow }) {
  if (status === "failed" && summary.message)
    return (
      <span className={styles.bad}>
        <Words text={summary.message} />
      </span>
    );
  if (isOver({ status })) return null;
  const waits = summary.waits ?? (summary.waiting_for ? `waits for ${awaited(summary.waiting_for)}` : "");
  if (standing?.text || !waits)
    return (
      <span className={status === "running" ? styles.doing : styles.waits}>
        <StandingLine standing={standing} />
      </span>
    );
  return (
    <span className={styles.waits}>
      <Words text={waits} />
    </span>
  );
}
