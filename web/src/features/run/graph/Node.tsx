// A step, and a frame around steps.

import type { GraphNode, StepStatus } from "../../../api/types";
import { StatusIcon, toneOf } from "../../../ui/Status";
import styles from "./graph.module.css";
import { useLooks } from "./looks";
import { isLoop } from "./nodes";
import { TurnField } from "./TurnField";

interface Props {
  data: { node: GraphNode };
}

/** Many steps that are done, or that come later, as one node. */
export function FoldedNode({ data: { node } }: Props) {
  const { choose } = useLooks();
  const status: StepStatus = node.kind === "done" ? "succeeded" : "pending";
  return (
    <div className={styles.step} data-status={status} data-tone={toneOf(status)} data-folded="true">
      <button type="button" className={`${styles.face} nopan`} onClick={() => choose?.(node.key, true)} title="Show these steps">
        <span className={styles.title}>
          <StatusIcon status={status} />
          <span className={styles.name}>{node.title}</span>
        </span>
        <span className={styles.detail}>{node.kind === "done" ? "finished part" : "later part"}: show it</span>
      </button>
    </div>
  );
}

export function StepNode({ data: { node } }: Props) {
  const { places, states, selected, select, critical, unreached, open, toggle, members, choose } = useLooks();
  const status: StepStatus | undefined = states && (states.get(node.key)?.status ?? unreached);
  const times = states?.get(node.key)?.paths.length ?? 0;
  const unit = places.unitOf(node);
  const inside = members.get(node.key)?.length;
  return (
    <div
      className={styles.step}
      data-folded={inside !== undefined}
      data-status={status}
      data-tone={status && toneOf(status)}
      data-selected={node.key === selected}
      data-gate={node.gate}
      data-critical={critical?.has(node.key)}
    >
      <button
        type="button"
        className={`${styles.face} nopan`}
        disabled={!select}
        onClick={() => select?.(node.key)}
        title={node.detail}
        aria-label={[node.title, node.kind, status].filter(Boolean).join(", ")}
      >
        <span className={styles.title}>
          {status && <StatusIcon status={status} />}
          <span className={styles.name}>{node.title}</span>
          {times > 1 && (
            <span className={styles.times} aria-hidden="true">
              ×{times}
            </span>
          )}
        </span>
        <span className={styles.detail} aria-hidden="true">
          {node.gate ? "asks a person" : node.kind}
          {inside !== undefined ? `: ${inside === 1 ? "1 step" : `${inside} steps`} inside` : node.detail && !node.gate ? `: ${node.detail}` : ""}
        </span>
      </button>
      {inside !== undefined && (
        <button type="button" className={`${styles.expand} nopan`} aria-expanded={false} onClick={() => choose?.(node.key, true)} title="Show what is inside">
          +<span className="unseen"> steps inside {node.title}</span>
        </button>
      )}
      {unit && (
        <button
          type="button"
          className={`${styles.expand} nopan`}
          aria-expanded={open.has(unit)}
          onClick={() => toggle(unit)}
          title="Show the steps of this sub-workflow"
        >
          {open.has(unit) ? "−" : "+"}
          <span className="unseen"> steps of {node.title}</span>
        </button>
      )}
    </div>
  );
}

export function GroupNode({ data: { node } }: Props) {
  const { states, selected, select, choose } = useLooks();
  const status = states?.get(node.key)?.status;
  return (
    <div
      className={styles.group}
      data-kind={node.kind}
      data-status={status}
      data-tone={status && toneOf(status)}
      data-selected={node.key === selected}
    >
      <div className={styles.caption}>
        <button
          type="button"
          className={`${styles.captionFace} nopan`}
          disabled={!select || node.kind === "branch" || node.kind === "unit"}
          onClick={() => select?.(node.key)}
          title={node.detail}
        >
          {status && <StatusIcon status={status} />}
          <span className={styles.name}>{node.title}</span>
          {node.kind !== "branch" && <span className={styles.kind}>{node.kind === "unit" ? "sub-workflow" : node.kind}</span>}
        </button>
        {isLoop(node) && <TurnPicker node={node} />}
        {choose && node.kind !== "branch" && node.kind !== "unit" && (
          <button type="button" className={`${styles.close} nopan`} aria-expanded={true} onClick={() => choose(node.key, false)} title="Fold this part">
            −<span className="unseen"> fold {node.title}</span>
          </button>
        )}
      </div>
    </div>
  );
}

/** The selector for an item or a round of a loop. */
function TurnPicker({ node }: { node: GraphNode }) {
  const { counts, turns, setTurn } = useLooks();
  const count = counts?.get(node.key) ?? 0;
  if (!setTurn || count < 2) return null;
  const word = node.kind === "repeat" ? "round" : "item";
  return (
    <TurnField
      word={word}
      label={`Which ${word} of ${node.title}`}
      count={count}
      chosen={turns?.get(node.key)}
      choose={(turn) => setTurn(node.key, turn)}
      className={`${styles.turns} nopan`}
    />
  );
}
