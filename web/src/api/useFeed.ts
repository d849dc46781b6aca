// The stream of changes for lists, with one connection for all pages.

import { type InfiniteData, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type RunsFilter } from "./queries";
import { tellRow } from "./rows";
import { type Connection, listenToList } from "./stream";
import type { RunRow, RunsPage } from "./types";

/** Rows arrive in bursts; they are put into the lists together. */
const TOGETHER_MS = 100;
/** Sums over all runs take the server some time, so they are asked for less often. */
const TOTALS_MS = 2_000;

export function useFeed(): Connection {
  const client = useQueryClient();
  const [connection, set] = useState<Connection>("open");
  useEffect(() => {
    const rows = new Map<string, RunRow>();
    const flush = pause(TOGETHER_MS, () => {
      takeRows(client, [...rows.values()]);
      rows.clear();
    });
    const sum = pause(TOTALS_MS, () => void client.invalidateQueries({ queryKey: ["totals"] }));
    return listenToList({
      on: {
        run: (data) => {
          const row = data as RunRow;
          tellRow(row);
          rows.set(row.run, row);
          flush();
          sum();
        },
        questions: () => void client.invalidateQueries({ queryKey: ["questions"] }),
      },
      changed: set,
      // The stream repeats nothing after a break.
      ready: () => {
        for (const key of ["runs", "totals", "questions"]) void client.invalidateQueries({ queryKey: [key] });
      },
    });
  }, [client]);
  return connection;
}

/** Calls a function once, after a pause, however often it is asked for meanwhile. */
function pause(ms: number, what: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      what();
    }, ms);
  };
}

type Lists = InfiniteData<RunsPage, string | undefined>;

/** Puts rows into every cached list. */
function takeRows(client: QueryClient, rows: RunRow[]): void {
  for (const [key] of client.getQueriesData<Lists>({ queryKey: ["runs"] })) {
    const filter = key[1] as RunsFilter;
    client.setQueryData<Lists>(key, (lists) => lists && rows.reduce((lists, row) => withRow(lists, row, filter), lists));
  }
}

/** A list with a new or changed row. */
export function withRow(lists: Lists, row: RunRow, filter: RunsFilter): Lists {
  const known = lists.pages.some((page) => page.runs.some((other) => other.run === row.run));
  const fits = isMeant(row, filter);
  if (!known && !fits) return lists;
  const pages = lists.pages.map((page, at) => {
    const runs = known
      ? page.runs.flatMap((other) => (other.run !== row.run ? [other] : fits ? [row] : []))
      : at === 0
        ? placed(page.runs, row)
        : page.runs;
    return { ...page, runs };
  });
  return { ...lists, pages };
}

/** Newest first; a run that is older than all shown ones belongs to a later page. */
function placed(runs: RunRow[], row: RunRow): RunRow[] {
  const at = runs.findIndex((other) => other.summary.started_at <= row.summary.started_at);
  if (at < 0 && runs.length > 0) return runs;
  return [...runs.slice(0, Math.max(at, 0)), row, ...runs.slice(Math.max(at, 0))];
}

function isMeant(row: RunRow, { status, workflow, text, since, until }: RunsFilter): boolean {
  const words = `${row.run} ${row.workflow} ${row.summary.task}`.toLowerCase();
  return (
    (!status?.length || status.includes(row.status)) &&
    (!workflow || row.workflow === workflow) &&
    (since === undefined || row.summary.started_at >= since) &&
    (until === undefined || row.summary.started_at < until) &&
    (!text || words.includes(text.toLowerCase()))
  );
}
