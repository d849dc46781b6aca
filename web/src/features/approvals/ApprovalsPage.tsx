// The inbox: everything that waits for a person, longest first. One line per question; one question is open.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { questionsQuery } from "../../api/queries";
import type { Question } from "../../api/types";
import { Empty, ErrorNote } from "../../ui/Note";
import { Title } from "../../ui/Title";
import { useWide } from "../../ui/useWide";
import styles from "./approvals.module.css";
import { Gone } from "./Gone";
import { InboxRow } from "./InboxRow";
import { keyOf, nextKey, sorted } from "./inbox";
import { Outcomes } from "./Outcomes";
import { QuestionCard } from "./QuestionCard";
import { useKeys } from "./useKeys";

export function ApprovalsPage() {
  const { data, error } = useQuery(questionsQuery);
  return (
    <section aria-labelledby="approvals" className={styles.page}>
      <Title text="Approvals" />
      <h1 id="approvals">Approvals and questions</h1>
      {error && <ErrorNote error={error} />}
      {data?.unreadable?.map(({ run, why }) => (
        <p key={run} role="alert">
          Run <code>{run}</code> may ask something, and cannot be read: {why}
        </p>
      ))}
      {!data && !error && <p className="quiet">Loading…</p>}
      {data && <Inbox questions={sorted(data.questions)} />}
    </section>
  );
}

function Inbox({ questions }: { questions: Question[] }) {
  const isWide = useWide();
  // The open question changes only when the user chooses another one. If it is answered elsewhere, no other question takes its
  // place under the mouse.
  const [open, choose] = useState<string>();
  const [first] = questions;
  if (open === undefined && first) choose(keyOf(first));
  if (open !== undefined && !first) choose(undefined);
  const list = useKeys(isWide ? choose : undefined);
  if (questions.length === 0) return <Nothing />;
  const chosen = questions.find((question) => keyOf(question) === open);
  const next = nextKey(questions, open);
  const pane = chosen ? (
    <QuestionCard key={open} question={chosen} where={<Where question={chosen} />} />
  ) : (
    open && <Gone of={open} next={next === undefined ? undefined : () => choose(next)} />
  );
  return (
    <>
      {chosen && <Outcomes />}
      <div className={styles.inbox} data-wide={isWide || undefined}>
        <div>
          {!isWide && !chosen && pane}
          <ul className={styles.rows} aria-label="Open questions" ref={list}>
            {questions.map((question) => {
              const key = keyOf(question);
              return (
                <li key={key}>
                  <InboxRow question={question} isOpen={key === open} open={() => choose(key === open && !isWide ? "" : key)} />
                  {!isWide && key === open && pane}
                </li>
              );
            })}
          </ul>
          <p className={styles.keys}>
            <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> open
          </p>
        </div>
        {isWide && <div className={styles.pane}>{pane}</div>}
      </div>
    </>
  );
}

function Nothing() {
  return (
    <>
      <Outcomes />
      <Empty title="Nothing waits for a person">
        <p>This page shows the gates, reviews and questions of all runs.</p>
      </Empty>
    </>
  );
}

function Where({ question: { run, path, workflow, task } }: { question: Question }) {
  return (
    <p className={styles.where}>
      <Link to="/runs/$run" params={{ run }} search={{ step: path }}>
        {task || run}
      </Link>{" "}
      <span className="quiet">{workflow}</span>
    </p>
  );
}
