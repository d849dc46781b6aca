// The inputs, the limits and the last runs of a workflow.

import { Link } from "@tanstack/react-router";
import type { Json, RunRow, Workflow } from "../../api/types";
import { ago, duration, money, short } from "../../ui/format";
import { fieldsOf } from "../../ui/form/model";
import { Status } from "../../ui/Status";
import { useNow } from "../../ui/useNow";
import styles from "./workflows.module.css";

/** The most choices that are listed. */
const CHOICES_MAX = 20;

export function Inputs({ workflow: { inputs, outputs } }: { workflow: Workflow }) {
  return (
    <section className={styles.box} aria-label="Inputs and outputs">
      <h2>Inputs</h2>
      <dl className={styles.terms}>
        <div>
          <dt>task</dt>
          <dd className="quiet">text: the task</dd>
        </div>
        {Object.entries(inputs).map(([name, input]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span className="quiet">
                {typeOf(input.schema)}
                {input.default !== undefined ? `, ${written(input.default)} by default` : input.optional ? ", optional" : ", required"}
              </span>
              {input.description && <p>{input.description}</p>}
            </dd>
          </div>
        ))}
      </dl>
      {outputs.length > 0 && (
        <p>
          <span className="quiet">returns</span> {outputs.join(", ")}
        </p>
      )}
    </section>
  );
}

export function Limits({ limits }: { limits: Workflow["limits"] }) {
  const { usd, tokens, duration_ms, steps, parallel } = limits;
  const parts = [
    usd !== undefined && money(usd),
    tokens !== undefined && `${short(tokens)} tokens`,
    duration_ms !== undefined && duration(duration_ms),
    steps !== undefined && `${steps} steps`,
    parallel !== undefined && `${parallel} at once`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  return (
    <section className={styles.box} aria-label="Limits">
      <h2>Limits</h2>
      <p>{parts.join(", ")}</p>
    </section>
  );
}

export function LastRuns({ runs }: { runs: RunRow[] }) {
  const now = useNow(true, 10_000);
  return (
    <section className={styles.box} aria-label="Last runs">
      <h2>Last runs</h2>
      {runs.length === 0 && <p className="quiet">It has never run.</p>}
      <ul>
        {runs.map(({ run, status, summary }) => (
          <li key={run} className={styles.last}>
            <Status status={status} />
            <Link to="/runs/$run" params={{ run }} search={{}}>
              {summary.task || run}
            </Link>
            <span className="quiet numbers">
              {money(summary.usd)}, {ago(summary.started_at, now)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What an input can be, in a few words. */
function typeOf(schema: Json): string {
  const { enum: choices, type } = fieldsOf(schema) ?? {};
  return Array.isArray(choices) ? choices.slice(0, CHOICES_MAX).map(written).join(" or ") : written(type ?? "anything");
}

function written(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
