// A worker: where it is, what it can do, how much it does.

import type { Worker } from "../../api/types";
import { ago, count, duration, moment } from "../../ui/format";
import { StatusIcon } from "../../ui/Status";
import ui from "../../ui/ui.module.css";
import { Duties } from "./Duties";
import styles from "./workers.module.css";

export function WorkerCard({ worker, now }: { worker: Worker; now: number }) {
  const { name, host, labels, slots, busy, holds } = worker;
  return (
    <article className={styles.worker} aria-label={name} data-worker={name} data-silent={worker.silent}>
      <div className={styles.top}>
        <h2>{name}</h2>
        <State worker={worker} />
        {host && <span className="quiet">on {host}</span>}
      </div>
      <div className={styles.slots}>
        <meter min={0} max={slots} value={busy} aria-label="Slots that are busy" />
        <span>
          {busy} of {count(slots, "slot")} busy
        </span>
      </div>
      <ul className={styles.labels} aria-label="Labels">
        {labels.map((label) => (
          <li key={label}>{label}</li>
        ))}
      </ul>
      <p className={styles.facts}>
        <span title={moment(worker.seen)}>{worker.silent ? `silent for ${duration(now - worker.seen)}` : `seen ${ago(worker.seen, now)}`}</span>
        <span title={moment(worker.since)}>started {ago(worker.since, now)}</span>
        <span>version {worker.version}</span>
      </p>
      {worker.silent && <Silent busy={busy} />}
      <Duties duties={holds} />
      {busy > holds.length && holds.length > 0 && <p className="quiet">and {busy - holds.length} more</p>}
    </article>
  );
}

/** In shape, colour and word. */
function State({ worker: { silent, busy } }: { worker: Worker }) {
  const [status, tone, word] = silent
    ? (["failed", "bad", "silent"] as const)
    : busy > 0
      ? (["running", "busy", "at work"] as const)
      : (["succeeded", "good", "ready"] as const);
  return (
    <span className={ui.status} data-tone={tone}>
      <StatusIcon status={status} />
      {word}
    </span>
  );
}

function Silent({ busy }: { busy: number }) {
  return (
    <p className={styles.silent}>
      It does not say any more that it is there: it was killed, sleeps, or cannot reach the store.
      {busy > 0 && " What it holds is made again once its lease has run out."}
    </p>
  );
}
