// Who has approved, and who is missing, where several people must approve.

import type { Question } from "../../api/types";
import { ago, moment } from "../../ui/format";
import styles from "./approvals.module.css";
import { missingOf, progressOf } from "./people";

export function People({ question, now }: { question: Question; now: number }) {
  const progress = progressOf(question);
  if (!progress) return null;
  const missing = missingOf(question);
  return (
    <section className={styles.people} aria-label="Approvals so far">
      <p className="unseen">{progress}</p>
      <p aria-hidden="true">
        <strong>
          {question.approved?.length ?? 0} of {question.needed}
        </strong>{" "}
        approvals
      </p>
      <ul>
        {question.approved?.map(({ by, at, comment }) => (
          <li key={by} className={styles.person} data-done>
            <strong>{by}</strong>{" "}
            <span className="quiet" title={moment(at)}>
              approved {ago(at, now)}
            </span>
            {comment && <span>: {comment}</span>}
          </li>
        ))}
        {missing && <li className={styles.person}>{missing}</li>}
      </ul>
    </section>
  );
}
