// All runs, newest first, live.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { runsQuery, workflowsQuery } from "../../api/queries";
import type { RunRow, WorkflowRow } from "../../api/types";
import { Empty, ErrorNote, Waiting } from "../../ui/Note";
import { Title } from "../../ui/Title";
import { useNow } from "../../ui/useNow";
import { Filters } from "./Filters";
import { asked, type Filter } from "./filter";
import { RunList } from "./RunList";
import { Totals } from "./Totals";
import styles from "./runs.module.css";

export function RunsPage({ filter }: { filter: Filter }) {
  // Read here and not later: a page is drawn again only for values that it has read.
  const wanted = asked(filter, useNow(filter.time !== undefined, 60_000));
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(runsQuery(wanted));
  const more = () => hasNextPage && !isFetching && void fetchNextPage();
  const known = useQuery(workflowsQuery).data?.workflows;
  const runs = useMemo(() => data?.pages.flatMap((page) => page.runs) ?? [], [data]);
  // Runs have the name inside the file, which can be another one than that of the file.
  const names = useMemo(() => namesOf(known ?? [], runs), [known, runs]);
  return (
    <section aria-label="Runs" className={styles.page}>
      <Title text="Runs" />
      <h1 className="unseen">Runs</h1>
      {(data || !error) && <Filters filter={filter} workflows={names} />}
      {error && <ErrorNote error={error} />}
      {!data && !error && <Waiting what="the runs" />}
      {runs.length > 0 && <Totals filter={wanted} />}
      {data && runs.length === 0 && <Nothing filtered={Object.keys(filter).length > 0} />}
      {runs.length > 0 && <RunList runs={runs} more={more} />}
      <Announcer runs={runs} />
    </section>
  );
}

/** The names of workflows that can be filtered by, in order. */
function namesOf(workflows: WorkflowRow[], runs: RunRow[]): string[] {
  return [...new Set([...workflows.map(({ name, title }) => title ?? name), ...runs.map(({ workflow }) => workflow)])].sort();
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No run matches">
        <p>Remove a filter above.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing has run yet">
      <p>
        Choose a <Link to="/workflows">workflow</Link> and start it, or run <code>longhaul run NAME</code>.
      </p>
    </Empty>
  );
}

/** Tells screen readers how many runs wait for a person, when that changes. */
function Announcer({ runs }: { runs: RunRow[] }) {
  const waiting = runs.filter((run) => run.status === "waiting").length;
  return (
    <p className="unseen" role="status">
      {waiting === 1 ? "1 run waits" : `${waiting} runs wait`}
    </p>
  );
}
