// Everything that waits for a person, longest first.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { questionsQuery } from "../../api/queries";
import type { Question } from "../../api/types";
import { Empty, ErrorNote } from "../../ui/Note";
import styles from "./approvals.module.css";
import { Outcomes } from "./Outcomes";
import { QuestionCard } from "./QuestionCard";

export function ApprovalsPage() {
  const { data, error } = useQuery(questionsQuery);
  return (
    <section aria-labelledby="approvals" className={styles.page}>
      <title>Approvals · Longhaul</title>
      <h1 id="approvals">Approvals and questions</h1>
      {error && <ErrorNote error={error} />}
      <Outcomes />
      {data?.questions.length === 0 && (
        <Empty title="Nothing waits for a person">
          <p>This page shows the gates, reviews and questions of all runs.</p>
        </Empty>
      )}
      {data?.unreadable?.map(({ run, why }) => (
        <p key={run} role="alert">
          Run <code>{run}</code> may ask something, and cannot be read: {why}
        </p>
      ))}
      {data?.questions.map((question) => (
        <QuestionCard key={`${question.run} ${question.path}`} question={question} where={<Where question={question} />} />
      ))}
    </section>
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
