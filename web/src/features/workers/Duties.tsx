// Steps that workers are running, each with a link to its run.

import { Link } from "@tanstack/react-router";
import type { Duty } from "../../api/types";
import styles from "./workers.module.css";

export function Duties({ duties }: { duties: Duty[] }) {
  if (duties.length === 0) return null;
  return (
    <ul className={styles.duties}>
      {duties.map((duty) => (
        <li key={`${duty.run} ${duty.path}`}>
          <DutyLink duty={duty} />
        </li>
      ))}
    </ul>
  );
}

export function DutyLink({ duty: { run, path, workflow, attempt } }: { duty: Duty }) {
  return (
    <span className={styles.duty}>
      <Link to="/runs/$run" params={{ run }} search={{ step: path }}>
        {path}
      </Link>
      <span className="quiet">
        {workflow} <span className="mono">{run}</span>
        {attempt > 1 && `, attempt ${attempt}`}
      </span>
    </span>
  );
}
