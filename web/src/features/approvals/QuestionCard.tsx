// A question, with everything that a person needs to answer it.

import type { ReactNode } from "react";
import type { Question } from "../../api/types";
import { ago, duration, moment } from "../../ui/format";
import { Value } from "../../ui/Value";
import { Words } from "../../ui/Words";
import { useNow } from "../../ui/useNow";
import { AnswerForm } from "./AnswerForm";
import { progressOf } from "./answers";
import styles from "./approvals.module.css";

const WORDS: Record<Question["kind"], string> = {
  approval: "Approval",
  question: "Question",
  review: "Review",
  operator: "Decision",
  consent: "Consent",
  machine: "Machine",
};

export function QuestionCard({ question, where }: { question: Question; where?: ReactNode }) {
  const now = useNow(true, 5_000);
  const progress = progressOf(question);
  return (
    <article className={styles.card} aria-label={`${WORDS[question.kind]}: ${question.text}`} data-path={question.path}>
      <header className={styles.head}>
        <span className={styles.kind}>{WORDS[question.kind]}</span>
        <span className={styles.path}>{question.name ?? question.path}</span>
        <span className="quiet" title={moment(question.asked_at)}>
          asked {ago(question.asked_at, now)}
        </span>
        {question.due !== undefined && (
          <span className="quiet" title={moment(question.due)}>
            closes in {duration(question.due - now)}
          </span>
        )}
      </header>
      {where}
      <p className={styles.text}>
        <Words text={question.text} />
      </p>
      {question.error && <p className={styles.error}>{question.error.message}</p>}
      {question.output !== undefined && <Value value={question.output} />}
      {progress && <p className="quiet">{progress}</p>}
      <AnswerForm question={question} />
    </article>
  );
}
