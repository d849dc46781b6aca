// A step: one line with its summary, and everything else on demand.

import { awaited, by, cost, count, duration } from "../../../ui/format";
import { StatusIcon, toneOf } from "../../../ui/Status";
import { Words } from "../../../ui/Words";
import type { FlatStep } from "../state/fold";
import { lastPart } from "../state/path";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { SKIPPED } from "../state/story";
import type { Row } from "./rows";
import { SpanBar } from "./SpanBar";
import { StepDetails } from "./StepDetails";
import styles from "./steps.module.css";
import { TurnTabs } from "./TurnTabs";

interface Props {
  row: Row;
  step: FlatStep;
  open: boolean;
  toggle: () => void;
  /** Whether its content is hidden. */
  closed: boolean;
  fold: () => void;
}

export function StepCard({ row, step, open, toggle, closed, fold }: Props) {
  const { selected, select, places } = useView();
  const kind = step.kind || places.node(places.of(step.path)?.key ?? "")?.kind || "";
  const choose = () => {
    select(step.path);
    toggle();
  };
  return (
    <article
      className={styles.card}
      data-path={step.path}
      data-status={step.status}
      data-tone={toneOf(step.status)}
      data-selected={selected === step.path}
      data-depth={Math.min(row.depth, 6)}
      data-replaced={step.replaced}
    >
      <div className={styles.top}>
        {row.holds && (
          <button
            type="button"
            className={styles.hold}
            aria-expanded={!closed}
            onClick={fold}
            aria-label={`Steps inside ${step.name ?? step.path}`}
          >
            {closed ? "▸" : "▾"}
          </button>
        )}
        <button type="button" className={styles.face} aria-expanded={open} onClick={choose}>
          <span className={styles.icon}>
            <StatusIcon status={step.status} size={14} />
          </span>
          <span className={styles.title}>
            <span className={styles.name}>{step.name ?? lastPart(step.path)}</span>
            <span className={styles.kind}>{kind}</span>
            <Where step={step} />
            <Maker step={step} />
          </span>
          <span className={styles.status}>
            <Words text={words(step)} />
          </span>
          <Numbers step={step} />
        </button>
      </div>
      {row.holds && <TurnTabs path={step.path} />}
      {!row.holds && <SpanBar path={step.path} />}
      {open && <StepDetails step={step} kind={kind} />}
    </article>
  );
}

/** The item and the round of the step. */
function Where({ step }: { step: FlatStep }) {
  const { places } = useView();
  const turns = places.of(step.path)?.turns ?? [];
  if (turns.length === 0) return null;
  const word = (key: string) => (places.node(key)?.kind === "repeat" ? "round" : "item");
  const shown = turns.map(({ key, index }) => `${word(key)} ${index}`).join(" · ");
  return <span className={styles.where}>{step.item ? `${shown} · ${step.item}` : shown}</span>;
}

/** The machine and the worker of the step, if there could be several. */
function Maker({ step }: { step: FlatStep }) {
  const { fold } = useWatched();
  const maker = fold?.spans.maker(step.path);
  if (!maker) return null;
  const where = maker.host ? `on ${maker.host}` : `by ${maker.worker}`;
  return (
    <span className={styles.where} title={`made by ${by(maker)}`}>
      {where}
    </span>
  );
}

function words(step: FlatStep): string {
  if (step.status === "waiting" && step.waiting_for) return `waits for ${awaited([step.waiting_for])}`;
  if (step.skipped) return `skipped: ${SKIPPED[step.skipped] ?? step.skipped}`;
  if (step.agent && step.status === "running") return `${step.agent.name} running`;
  return step.replaced ? `${step.status}, replaced` : step.status;
}

function Numbers({ step }: { step: FlatStep }) {
  const { now } = useView();
  const { skew } = useWatched();
  const going = step.status === "running" || step.status === "waiting";
  const took = going && step.started_at !== undefined ? now + skew - step.started_at : step.duration_ms;
  return (
    <span className={styles.numbers}>
      {step.attempts > 1 && <span>{count(step.attempts, "attempt")}</span>}
      {step.usage.usd > 0 && <span>{cost(step.usage)}</span>}
      {step.status !== "pending" && step.status !== "skipped" && <span>{duration(took)}</span>}
    </span>
  );
}
