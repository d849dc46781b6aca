// The stream of changes for lists, with one connection for all pages.

import { type InfiniteData, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { permission } from "../features/notices/permission";
import { address } from "./client";
import { type RunsFilter } from "./queries";
import { tellRow } from "./rows";
import { type Connection, listen } from "./stream";
import type { RunRow, RunsPage } from "./types";

export function useFeed(): Connection {
  const client = useQueryClient();
  const [connection, set] = useState<Connection>("open");
  useEffect(
    () =>
      listen({
        url: () => address("/stream"),
        // Notices are for people who look elsewhere.
        whenHidden: () => permission() === "on",
        on: {
          run: (row) => {
            takeRow(client, row as RunRow);
            tellRow(row as RunRow);
          },
          questions: () => void client.invalidateQueries({ queryKey: ["questions"] }),
        },
        changed: (connection) => {
          set(connection);
          // The stream repeats nothing after a break.
          if (connection === "open") void client.invalidateQueries({ queryKey: ["runs"] });
        },
      }),
    [client],
  );
  return connection;
}

type Lists = InfiniteData<RunsPage, string | undefined>;

/** Puts a row into every cached list. */
function takeRow(client: QueryClient, row: RunRow): void {
  for (const [key] of client.getQueriesData<Lists>({ queryKey: ["runs"] })) {
    client.setQueryData<Lists>(key, (lists) => lists && withRow(lists, row, key[1] as RunsFilter));
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

function isMeant(row: RunRow, { status, workflow, text }: RunsFilter): boolean {
  const words = `${row.run} ${row.workflow} ${row.summary.task}`.toLowerCase();
  return (
    (!status?.length || status.includes(row.status)) &&
    (!workflow || row.workflow === workflow) &&
    (!text || words.includes(text.toLowerCase()))
  );
}
