// One workflow: its steps, its inputs, its runs, and its text.

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { workflowQuery } from "../../api/queries";
import type { Workflow } from "../../api/types";
import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { ErrorNote, Waiting } from "../../ui/Note";
import { Tabs } from "../../ui/Tabs";
import { ONLY_LOOKS, useMay } from "../../ui/useMay";
import { useRest } from "../../ui/useRest";
import { useWide } from "../../ui/useWide";
import { Title } from "../../ui/Title";
import { Checks } from "./Checks";
import { Inputs, LastRuns, Limits } from "./Facts";
import { Rate } from "./Rate";
import { RunDialog } from "./RunDialog";
import { Source } from "./Source";
import styles from "./workflows.module.css";

const GraphView = lazy(() => import("../run/graph/GraphView"));

export function WorkflowPage({ name }: { name: string }) {
  const { data, error } = useQuery(workflowQuery(name));
  if (error) return <ErrorNote error={error} />;
  return data ? <Page workflow={data} /> : <Waiting what={name} />;
}

const BROKEN = "It has mistakes: see Checks.";

function Page({ workflow }: { workflow: Workflow }) {
  const may = useMay();
  const [running, run] = useState(false);
  return (
    <section aria-labelledby="workflow" className={styles.page}>
      <Title text={workflow.title ?? workflow.name} />
      <header className={styles.head}>
        <div className={styles.about}>
          <h1 id="workflow">{workflow.title ?? workflow.name}</h1>
          <p>{workflow.description}</p>
          <p className={styles.facts}>
            <span className="mono quiet">{workflow.file}</span>
            <span className="quiet">
              {workflow.origin}, {workflow.dialect}
            </span>
            {workflow.steps !== null && <span>{count(workflow.steps, "step")}</span>}
            <Rate runs={workflow.runs} />
          </p>
          {workflow.hides.map((hidden) => (
            <p key={hidden.file} className="quiet">
              hides {hidden.file} ({hidden.origin})
            </p>
          ))}
        </div>
        <Button look="main" disabled={!workflow.ok || !may} title={may ? (workflow.ok ? undefined : BROKEN) : ONLY_LOOKS} onClick={() => run(true)}>
          Run it
        </Button>
      </header>
      <div className={styles.columns}>
        <Texts workflow={workflow} />
        <aside className={styles.side}>
          <Inputs workflow={workflow} />
          <Limits limits={workflow.limits} />
          <LastRuns runs={workflow.last_runs} />
        </aside>
      </div>
      {running && <RunDialog workflow={workflow} close={() => run(false)} />}
    </section>
  );
}

type Tab = "picture" | "source" | "checks";

function Texts({ workflow }: { workflow: Workflow }) {
  const { picture, diagnostics } = workflow;
  const [tab, choose] = useState<Tab>(picture ? "picture" : "checks");
  const paper = useRest(useWide() && tab === "picture");
  const tabs = [
    { id: "picture", title: "Picture", hidden: !picture },
    { id: "source", title: "Source" },
    { id: "checks", title: diagnostics.length ? `Checks (${diagnostics.length})` : "Checks" },
  ] as const;
  return (
    <div className={styles.texts}>
      <Tabs label="About this workflow" tabs={tabs} chosen={tab} choose={choose} />
      <div role="tabpanel" aria-labelledby={`tab-${tab}`} className={styles.panel}>
        {tab === "picture" && picture && (
          <div ref={paper} className={styles.picture}>
            <Suspense>
              <GraphView picture={picture} />
            </Suspense>
          </div>
        )}
        {tab === "source" && <Source text={workflow.source} diagnostics={diagnostics} />}
        {tab === "checks" && <Checks diagnostics={diagnostics} source={workflow.source} />}
      </div>
    </div>
  );
}
