// A run: its steps beside its picture, live.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { Path } from "../../api/types";
import { rowQuery } from "../../api/queries";
import { count } from "../../ui/format";
import { ErrorNote, Waiting } from "../../ui/Note";
import { Status } from "../../ui/Status";
import { Tabs } from "../../ui/Tabs";
import { useNow } from "../../ui/useNow";
import { useRest } from "../../ui/useRest";
import { useWide } from "../../ui/useWide";
import { Title } from "../../ui/Title";
import { Outcomes } from "../approvals/Outcomes";
import { QuestionCard } from "../approvals/QuestionCard";
import { LivePicture } from "./graph/LivePicture";
import { Places, type Turns } from "./graph/nodes";
import { Files } from "./panels/Files";
import { Header } from "./panels/Header";
import { Log } from "./panels/Log";
import { Search } from "./panels/Search";
import { Summary } from "./panels/Summary";
import { WhyPanel } from "./panels/WhyPanel";
import styles from "./run.module.css";
import type { Fold } from "./state/fold";
import { useRun, WatchedRun } from "./state/useRun";
import { LookedAt, type View } from "./state/view";
import { StepList } from "./steps/StepList";
import { Timeline } from "./timeline/Timeline";

const TABS = ["steps", "timeline", "picture", "search", "log", "files", "summary"] as const;
type Tab = (typeof TABS)[number];

/** The selection in the address of the page. */
export interface RunSearch {
  step?: Path;
  tab?: Tab;
}

export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const { step, tab } = search;
  return { ...(typeof step === "string" ? { step } : {}), ...(TABS.includes(tab as Tab) ? { tab: tab as Tab } : {}) };
}

export function RunPage({ run, search }: { run: string; search: RunSearch }) {
  const store = useRun(run);
  const { fold, problem } = store;
  return (
    <WatchedRun value={store}>
      {problem && <ErrorNote error={problem} />}
      {fold ? <Page fold={fold} search={search} /> : !problem && <Loading run={run} />}
    </WatchedRun>
  );
}

/** The line of the run in lists, until the rest is there: a run with many events takes the server a moment. */
function Loading({ run }: { run: string }) {
  const { data } = useQuery(rowQuery(run));
  return (
    <section aria-labelledby="run" aria-busy="true" className={styles.page}>
      <title>{`${data?.status ?? "loading"}: ${run} · Longhaul`}</title>
      <header className={styles.header}>
        <div className={styles.headline}>
          {data && <Status status={data.status} />}
          <h1 id="run">{data?.summary.task || data?.workflow || run}</h1>
        </div>
        <p className={styles.facts}>
          {data && <span>{data.workflow}</span>}
          <span className="mono">{run}</span>
          {data && <span>{count(data.summary.done, "step")} done</span>}
        </p>
      </header>
      <Waiting what="the run" />
    </section>
  );
}

function Page({ fold, search }: { fold: Fold; search: RunSearch }) {
  const wide = useWide();
  const view = useLook(fold, search);
  const chosen = search.tab && !(wide && search.tab === "picture") ? search.tab : "steps";
  return (
    <LookedAt value={view}>
      <section aria-labelledby="run" className={styles.page}>
        <Title text={`${fold.head.status}: ${fold.head.task || fold.head.workflow}`} />
        <Header head={fold.head} />
        <div className={styles.columns} data-wide={chosen === "timeline"}>
          <div className={styles.left}>
            <WhyPanel />
            <Outcomes run={fold.head.run} />
            {fold.questions.map((question) => (
              <QuestionCard key={question.path} question={question} />
            ))}
            <RunTabs chosen={chosen} wide={wide} />
            <div role="tabpanel" aria-labelledby={`tab-${chosen}`}>
              {chosen === "steps" && <StepList />}
              {chosen === "picture" && (
                <div className={styles.tall}>
                  <LivePicture />
                </div>
              )}
              {chosen === "timeline" && <Timeline />}
              {chosen === "search" && <Search />}
              {chosen === "log" && <Log />}
              {chosen === "files" && <Files />}
              {chosen === "summary" && <Summary />}
            </div>
          </div>
          {wide && chosen !== "timeline" && <Beside />}
        </div>
      </section>
    </LookedAt>
  );
}

/** The picture, as tall as the window allows. */
function Beside() {
  return (
    <div ref={useRest()} className={styles.right}>
      <LivePicture />
    </div>
  );
}

function RunTabs({ chosen, wide }: { chosen: Tab; wide: boolean }) {
  const navigate = useNavigate({ from: "/runs/$run" });
  const tabs = TABS.map((id) => ({ id, title: `${id[0]?.toUpperCase()}${id.slice(1)}`, hidden: wide && id === "picture" }));
  return (
    <Tabs
      label="About this run"
      tabs={tabs}
      chosen={chosen}
      choose={(tab) => void navigate({ search: (before) => ({ ...before, tab }), replace: true, resetScroll: false })}
    />
  );
}

/** The selection: the step in the address, and turns of loops. */
function useLook(fold: Fold, search: RunSearch): View {
  const navigate = useNavigate({ from: "/runs/$run" });
  const { graph } = fold.head.picture;
  // The picture of a run never changes; each snapshot contains it again.
  const places = useMemo(() => new Places(graph), [graph.nodes.length]);
  const [turns, setTurns] = useState<Turns>(new Map());
  const setTurn = useCallback((key: string, turn: number | undefined) => setTurns((before) => withTurn(before, key, turn)), []);
  // A chosen step is shown in the tab of the steps, whichever tab it was chosen in.
  const select = useCallback((step: Path) => void navigate({ search: { step }, replace: true, resetScroll: false }), [navigate]);
  const now = useNow(fold.head.ended_at === undefined);
  return { places, turns, setTurn, selected: search.step, select, now };
}

function withTurn(turns: Turns, key: string, turn: number | undefined): Turns {
  const next = new Map(turns);
  if (turn === undefined) next.delete(key);
  else next.set(key, turn);
  return next;
}
