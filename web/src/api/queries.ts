// The queries to the server, except those of a watched run.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { address, get, getText } from "./client";
import type { About, Artifact, Attempt, Found, Json, Path, Questions, Roster, RunsPage, Totals, Workflow, WorkflowRow } from "./types";

export interface RunsFilter {
  status?: string[];
  workflow?: string;
  text?: string;
  /** The first moment, and the moment after the last one. */
  since?: number;
  until?: number;
}

const RUNS_PAGE = 500;

export const runsQuery = ({ status, workflow, text, since, until }: RunsFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", { status, workflow, text, since, until }],
    queryFn: ({ pageParam, signal }) =>
      get<RunsPage>(address("/runs", { status, workflow, text, since, until, before: pageParam, limit: RUNS_PAGE }), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    // The old data stays until the new answer arrives.
    placeholderData: (before) => before,
    // The stream keeps it up to date.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });

/** The line of one run in lists. */
export const rowQuery = (run: string) =>
  queryOptions({
    queryKey: ["row", run],
    queryFn: async ({ signal }) => (await get<RunsPage>(address("/runs", { id: run, limit: 5 }), signal)).runs.find((row) => row.run === run) ?? null,
  });

export const totalsQuery = ({ status, workflow, text, since, until }: RunsFilter) =>
  queryOptions({
    queryKey: ["totals", { status, workflow, text, since, until }],
    queryFn: ({ signal }) => get<Totals>(address("/totals", { status, workflow, text, since, until }), signal),
    placeholderData: (before) => before,
    staleTime: Infinity,
  });

export const aboutQuery = queryOptions({
  queryKey: ["about"],
  queryFn: ({ signal }) => get<About>(address("/about"), signal),
  staleTime: Infinity,
});

/** Values of workflows and agents. They may have a field `__proto__`, which the comparison with the last answer would lose. */
const FOREIGN = { structuralSharing: false } as const;

export const questionsQuery = queryOptions({
  ...FOREIGN,
  queryKey: ["questions"],
  queryFn: ({ signal }) => get<Questions>(address("/questions"), signal),
});

export const workflowsQuery = queryOptions({
  queryKey: ["workflows"],
  queryFn: ({ signal }) => get<{ workflows: WorkflowRow[] }>(address("/workflows"), signal),
});

export const workflowQuery = (name: string) =>
  queryOptions({
    ...FOREIGN,
    queryKey: ["workflow", name],
    queryFn: ({ signal }) => get<Workflow>(address(`/workflows/${encodeURIComponent(name)}`), signal),
  });

/** Workers report every few seconds, and no stream sends that, so this query polls. */
const WORKERS_AGAIN_MS = 2_000;

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => get<Roster>(address("/workers"), signal),
  refetchInterval: WORKERS_AGAIN_MS,
});

/** `version`: a value that changes with the answer, such as the number of attempts and the status of the last one. */
export const attemptsQuery = (run: string, path: Path, version: string) =>
  queryOptions({
    ...FOREIGN,
    queryKey: ["attempts", run, path, version],
    queryFn: ({ signal }) => get<{ attempts: Attempt[] }>(address(`/runs/${run}/attempts`, { path }), signal),
    placeholderData: (before) => before,
  });

export const outputQuery = (run: string, path: Path) =>
  queryOptions({
    ...FOREIGN,
    queryKey: ["output", run, path],
    queryFn: ({ signal }) => get<{ output: Json }>(address(`/runs/${run}/output`, { path }), signal),
  });

/** All transcripts and outputs of a run, or of one step. */
export const searchQuery = (run: string, text: string, path?: Path) =>
  queryOptions({
    queryKey: ["search", run, path, text],
    queryFn: ({ signal }) => get<Found>(address(`/runs/${run}/search`, { text, path }), signal),
    enabled: text !== "",
  });

export const artifactsQuery = (run: string) =>
  queryOptions({
    queryKey: ["artifacts", run],
    queryFn: ({ signal }) => get<{ artifacts: Artifact[]; more?: boolean; elsewhere?: string[] }>(address(`/runs/${run}/artifacts`), signal),
  });

export const artifactAddress = (run: string, name: string) => address(`/runs/${run}/artifact`, { name });

export const artifactQuery = (run: string, name: string) =>
  queryOptions({ queryKey: ["artifact", run, name], queryFn: ({ signal }) => getText(artifactAddress(run, name), signal) });
