// The summary of a run, and its actions.

import { Link } from "@tanstack/react-router";
import { cost, count, duration, moment, origin, tokens } from "../../../ui/format";
import { Note } from "../../../ui/Note";
import { StandingLine, StandingWord } from "../../../ui/Standing";
import { Words } from "../../../ui/Words";
import styles from "../run.module.css";
import type { Head } from "../state/fold";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { RunActions } from "./RunActions";

export function Header({ head }: { head: Head }) {
  return (
    <header className={styles.header}>
      <div className={styles.headline}>
        <StandingWord status={head.status} standing={head.standing} />
        <h1 id="run">{head.task || head.workflow}</h1>
        <RunActions head={head} />
      </div>
      <Facts head={head} />
      {(head.standing?.is === "no_engine" || head.standing?.is === "stopped") && (
        <Note tone="wait">
          <p>
            <StandingLine standing={head.standing} />
          </p>
        </Note>
      )}
      {head.message && (
        <Note tone={head.status === "failed" ? "bad" : "none"}>
          <p>
            <Words text={head.message} />
          </p>
        </Note>
      )}
      {head.limits_reached?.length ? (
        <Note tone="wait">
          <p>Limits that were reached: {head.limits_reached.join(", ")}</p>
        </Note>
      ) : null}
    </header>
  );
}

function Facts({ head }: { head: Head }) {
  const { fold, skew, connection } = useWatched();
  const { now } = useView();
  const end = head.ended_at ?? now + skew;
  const took = end - head.started_at;
  // The time between an end and a retry, or before a fork, is no work.
  const work = fold?.axis(end).work ?? took;
  const { progress, usage } = head;
  const left = [
    progress.failed && `${progress.failed} failed`,
    progress.running && `${progress.running} running`,
    progress.waiting && `${progress.waiting} waiting`,
    progress.skipped && `${progress.skipped} skipped`,
  ];
  return (
    <p className={styles.facts}>
      <Link to="/workflows/$name" params={{ name: head.workflow }}>
        {head.workflow}
      </Link>
      <span className="mono" data-testid="run-id">
        {head.run}
      </span>
      <span>started {moment(head.started_at)}</span>
      <span title={took > work ? "Time in which nothing happened is not counted" : undefined}>
        {duration(work)}
        {took > work && ` of work in ${duration(took)}`}
      </span>
      <span>
        {cost(usage)}
        {head.cost.limit.usd !== undefined && ` of $${head.cost.limit.usd}`}
      </span>
      {usage.input_tokens > 0 && <span>{tokens(usage)} tokens</span>}
      <span>{[`${count(progress.succeeded, "step")} done`, ...left].filter(Boolean).join(", ")}</span>
      {head.owner && <span>by {origin(head.owner)}</span>}
      {head.parent && (
        <span>
          started by <RunLink run={head.parent} />
        </span>
      )}
      {head.forked && (
        <span>
          forked from <RunLink run={head.forked[0]} /> at {head.forked[1]}
        </span>
      )}
      <span role="status">{connection === "lost" ? "not live: reconnecting" : head.ended_at === undefined ? "live" : ""}</span>
    </p>
  );
}

function RunLink({ run }: { run: string }) {
  return (
    <Link to="/runs/$run" params={{ run }} search={{}}>
      {run}
    </Link>
  );
}
