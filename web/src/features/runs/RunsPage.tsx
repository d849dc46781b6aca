// All runs, newest first, live.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runsQuery, workflowsQuery } from "../../api/queries";
import type { RunRow } from "../../api/types";
import { Empty, ErrorNote } from "../../ui/Note";
import { Title } from "../../ui/Title";
import { Filters } from "./Filters";
import type { Filter } from "./filter";
import { RunList } from "./RunList";
import styles from "./runs.module.css";

export function RunsPage({ filter }: { filter: Filter }) {
  // Read here and not later: a page is drawn again only for values that it has read.
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(runsQuery(filter));
  const more = () => hasNextPage && !isFetching && void fetchNextPage();
  const names = useQuery(workflowsQuery).data?.workflows.map((workflow) => workflow.name) ?? [];
  const runs = data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <section aria-label="Runs" className={styles.page}>
      <Title text="Runs" />
      <h1 className="unseen">Runs</h1>
      {(data || !error) && <Filters filter={filter} workflows={names} />}
      {error && <ErrorNote error={error} />}
      {data && runs.length === 0 && <Nothing filtered={Object.keys(filter).length > 0} />}
      {runs.length > 0 && <RunList runs={runs} more={more} />}
      <Announcer runs={runs} />
    </section>
  );
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
