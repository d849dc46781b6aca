// A question, with everything that a person needs to answer it.

import type { ReactNode } from "react";
import type { Question } from "../../api/types";
import { Clipped } from "../../ui/Clipped";
import { ago, duration, inTimeZone, moment } from "../../ui/format";
import { Markdown } from "../../ui/markdown/Markdown";
import { oneLine } from "../../ui/markdown/parse";
import { useNow } from "../../ui/useNow";
import { Value } from "../../ui/Value";
import { AnswerForm } from "./AnswerForm";
import styles from "./approvals.module.css";
import { People } from "./People";

export const WORDS: Record<Question["kind"], string> = {
  approval: "Approval",
  question: "Question",
  review: "Review",
  operator: "Decision",
  consent: "Consent",
  machine: "Machine",
};

/** The id of the card of a question on its page. */
export function cardId(path: string): string {
  return `question-${path}`;
}

/** Moves to the card of a question, if the page shows it. */
export function goToCard(path: string): boolean {
  const card = document.getElementById(cardId(path));
  card?.scrollIntoView({ block: "nearest" });
  card?.focus({ preventScroll: true });
  return card !== null;
}

export function QuestionCard({ question, where }: { question: Question; where?: ReactNode }) {
  const now = useNow(true, 5_000);
  const { path, kind, text, error, output } = question;
  return (
    <article id={cardId(path)} tabIndex={-1} className={styles.card} aria-label={`${WORDS[kind]}: ${oneLine(text)}`} data-path={path} data-question>
      <header className={styles.head}>
        <span className={styles.kind}>{WORDS[kind]}</span>
        <span className={styles.path}>{question.name ?? path}</span>
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
      <Clipped label="What is asked">
        <div className={styles.text}>
          <Markdown text={inTimeZone(text)} />
        </div>
        {error && <p className={styles.error}>{error.message}</p>}
        {output !== undefined && <Value value={output} />}
      </Clipped>
      <People question={question} now={now} />
      <AnswerForm question={question} />
    </article>
  );
}
