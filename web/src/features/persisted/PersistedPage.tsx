// Data that outlives runs: decisions of gates, changes of reliability, recommendations of agents.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { persistedQuery } from "../../api/queries";
import type { Note as Kept, Persisted } from "../../api/types";
import { moment } from "../../ui/format";
import { ErrorNote } from "../../ui/Note";
import { Title } from "../../ui/Title";
import styles from "./persisted.module.css";

const PARTS: readonly { id: keyof Persisted; title: string; empty: string }[] = [
  {
    id: "gate_decisions",
    title: "Decisions of evaluation gates",
    empty:
      "No evaluation gate has decided anything. A gate compares a run with earlier ones before its result is used. No run here had a gate.",
  },
  {
    id: "transitions",
    title: "Changes of reliability",
    empty: "Nothing has changed. Longhaul records a change when an agent or a step becomes more or less reliable.",
  },
  {
    id: "recommendations",
    title: "Recommended routes",
    empty: "There are no recommendations. With enough runs, they say which agent is best at which work.",
  },
];

export function PersistedPage() {
  const { data, error } = useQuery(persistedQuery);
  return (
    <section aria-labelledby="persisted" className={styles.page}>
      <Title text="Persisted runs" />
      <h1 id="persisted">Persisted runs</h1>
      {error && <ErrorNote error={error} />}
      {data && PARTS.map(({ id, title, empty }) => <Part key={id} title={title} empty={empty} notes={data[id]} />)}
    </section>
  );
}

function Part({ title, empty, notes }: { title: string; empty: string; notes: Kept[] }) {
  return (
    <section className={styles.part} aria-label={title}>
      <h2>{title}</h2>
      {notes.length === 0 ? (
        <p className="quiet">{empty}</p>
      ) : (
        <ul>
          {notes.map((note) => (
            <Line key={`${note.run}${note.at}${note.text}`} note={note} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Line({ note }: { note: Kept }) {
  return (
    <li className={styles.line}>
      <strong>{note.word}</strong> {note.text}{" "}
      <span className="quiet">
        <Link to="/runs/$run" params={{ run: note.run }} search={note.path ? { step: note.path } : {}}>
          {note.workflow}
        </Link>
        , {moment(note.at)}
      </span>
    </li>
  );
}
