// The filters for the list of runs.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { StatusIcon } from "../../ui/Status";
import { type Filter, STATUSES, toggled } from "./filter";
import styles from "./runs.module.css";
import { type Time, TIMES } from "./times";

const PAUSE_MS = 200;

export function Filters({ filter, workflows }: { filter: Filter; workflows: string[] }) {
  const navigate = useNavigate();
  const show = (next: Filter) => void navigate({ to: "/runs", search: next, replace: true });
  const { workflow, ...others } = filter;
  return (
    <form className={styles.filters} role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchBox filter={filter} show={show} />
      <select
        className={styles.select}
        aria-label="Workflow"
        value={workflow ?? ""}
        onChange={(event) => show(event.target.value ? { ...filter, workflow: event.target.value } : others)}
      >
        <option value="">all workflows</option>
        {[...new Set([...workflows, ...(workflow ? [workflow] : [])])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <TimeField filter={filter} show={show} />
      <div className={styles.pills} role="group" aria-label="Status">
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className={styles.pill}
            aria-pressed={filter.status?.includes(status) ?? false}
            onClick={() => show(toggled(filter, status))}
          >
            <StatusIcon status={status} size={11} /> {status}
          </button>
        ))}
      </div>
    </form>
  );
}

const DAYS = "days";

/** The recent past, or days. */
function TimeField({ filter, show }: { filter: Filter; show: (filter: Filter) => void }) {
  const { time, from, to, ...others } = filter;
  const [days, choose] = useState(from !== undefined || to !== undefined);
  const set = (value: string) => {
    choose(value === DAYS);
    show(value === DAYS || value === "" ? others : { ...others, time: value as Time });
  };
  const day = (name: "from" | "to", value: string) => {
    const { [name]: _, ...rest } = filter;
    show(value ? { ...rest, [name]: value } : rest);
  };
  return (
    <>
      <select className={styles.select} aria-label="Started" value={days ? DAYS : (time ?? "")} onChange={(event) => set(event.target.value)}>
        <option value="">any time</option>
        {Object.entries(TIMES).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
        <option value={DAYS}>days…</option>
      </select>
      {days && (
        <span className={styles.days}>
          <input type="date" aria-label="From this day" value={from ?? ""} onChange={(event) => day("from", event.target.value)} />
          <input type="date" aria-label="To this day" value={to ?? ""} onChange={(event) => day("to", event.target.value)} />
        </span>
      )}
    </>
  );
}

/** Searches after a pause in typing. */
function SearchBox({ filter, show }: { filter: Filter; show: (filter: Filter) => void }) {
  const [typed, type] = useState(filter.text ?? "");
  useEffect(() => {
    if (typed === (filter.text ?? "")) return;
    const { text: _, ...others } = filter;
    const timer = setTimeout(() => show(typed ? { ...others, text: typed } : others), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <input
      type="search"
      className={styles.search}
      placeholder="Search id, workflow, task"
      aria-label="Search runs"
      value={typed}
      onChange={(event) => type(event.target.value)}
    />
  );
}
