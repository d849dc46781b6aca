// Maps addresses to pages.

import { useQuery } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, Navigate, redirect } from "@tanstack/react-router";
import { questionsQuery } from "./api/queries";
import { ApprovalsPage } from "./features/approvals/ApprovalsPage";
import { type RunSearch, readRunSearch, RunPage } from "./features/run/RunPage";
import { RunsPage } from "./features/runs/RunsPage";
import { type Filter, readFilter } from "./features/runs/filter";
import { WorkersPage } from "./features/workers/WorkersPage";
import { WorkflowPage } from "./features/workflows/WorkflowPage";
import { WorkflowsPage } from "./features/workflows/WorkflowsPage";
import { Broken } from "./ui/Broken";
import { NotFound } from "./ui/NotFound";
import { Shell } from "./ui/Shell";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

const login = createRoute({ getParentRoute: () => root, path: "/login", component: LoginPage });

/** The server shows this address to a browser whose token was wrong. A user who is signed in all the same goes to the runs. */
function LoginPage() {
  return useQuery(questionsQuery).data && <Navigate to="/runs" replace />;
}

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: (search): Filter => readFilter(search),
  component: () => <RunsPage filter={runs.useSearch()} />,
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  validateSearch: (search): RunSearch => readRunSearch(search),
  component: () => <RunPage key={run.useParams().run} run={run.useParams().run} search={run.useSearch()} />,
});

const workflows = createRoute({ getParentRoute: () => root, path: "/workflows", component: WorkflowsPage });

const workflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$name",
  component: () => <WorkflowPage name={workflow.useParams().name} />,
});

const approvals = createRoute({ getParentRoute: () => root, path: "/approvals", component: ApprovalsPage });
const workers = createRoute({ getParentRoute: () => root, path: "/workers", component: WorkersPage });

export const router = createRouter({
  routeTree: root.addChildren([home, login, runs, run, workflows, workflow, approvals, workers]),
  scrollRestoration: true,
  defaultErrorComponent: Broken,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
