// The workflows that can be run by name.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { aboutQuery, workflowsQuery } from "../../api/queries";
import type { WorkflowRow } from "../../api/types";
import { ago, count } from "../../ui/format";
import { Empty, ErrorNote, Waiting } from "../../ui/Note";
import { Status } from "../../ui/Status";
import { useNow } from "../../ui/useNow";
import { Title } from "../../ui/Title";
import { Rate } from "./Rate";
import styles from "./workflows.module.css";

export function WorkflowsPage() {
  const { data, error } = useQuery(workflowsQuery);
  const about = useQuery(aboutQuery).data;
  return (
    <section aria-labelledby="workflows" className={styles.page}>
      <Title text="Workflows" />
      <header>
        <h1 id="workflows">Workflows</h1>
        {about && (
          <p className="quiet">
            of {about.project}, and those that come with Longhaul {about.version}
          </p>
        )}
      </header>
      {error && <ErrorNote error={error} />}
      {!data && !error && <Waiting what="the workflows" />}
      {data?.workflows.length === 0 && (
        <Empty title="There are no workflows">
          <p>
            Write one into <code>.longhaul/workflows/</code>; <code>longhaul init</code> makes a first one.
          </p>
        </Empty>
      )}
      <ul className={styles.catalogue}>
        {own(data?.workflows ?? []).map((row) => (
          <Card key={row.name} row={row} />
        ))}
      </ul>
    </section>
  );
}

/** Workflows of the project and of the user come before built-in ones. */
function own(rows: WorkflowRow[]): WorkflowRow[] {
  const comesWith = (row: WorkflowRow) => Number(row.origin === "builtin");
  return rows.toSorted((a, b) => comesWith(a) - comesWith(b));
}

function Card({ row }: { row: WorkflowRow }) {
  const now = useNow(true, 10_000);
  const { last } = row.runs;
  return (
    <li className={styles.card}>
      <h2>
        <Link to="/workflows/$name" params={{ name: row.name }}>
          {row.title ?? row.name}
        </Link>
        {row.title && <span className="quiet"> {row.name}</span>}
      </h2>
      <p>{row.description || <span className="quiet">No description.</span>}</p>
      <p className={styles.facts}>
        {row.ok ? <span>{count(row.steps ?? 0, "step")}</span> : <span className={styles.bad}>has mistakes</span>}
        <span className="quiet">{row.origin}</span>
        <Rate runs={row.runs} />
      </p>
      <p className={styles.facts}>
        {last ? (
          <>
            <Status status={last.status} />
            <Link to="/runs/$run" params={{ run: last.run }} search={{}}>
              last run
            </Link>
            <span className="quiet">{ago(last.summary.started_at, now)}</span>
          </>
        ) : (
          <span className="quiet">never run</span>
        )}
      </p>
    </li>
  );
}
