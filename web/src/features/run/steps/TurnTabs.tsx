// Which item or round of a loop is looked at.

import { useMemo } from "react";
import type { Path } from "../../../api/types";
import { indexInside } from "../state/path";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { isLoop } from "../graph/nodes";
import styles from "./steps.module.css";

/** With more, a list of tabs is no help. */
const TABS_MAX = 8;

export function TurnTabs({ path }: { path: Path }) {
  const { fold } = useWatched();
  const { places, turns, setTurn } = useView();
  const shape = fold?.shape;
  const count = useMemo(() => 1 + Math.max(-1, ...(fold?.inside.get(path) ?? []).map((inner) => indexInside(inner) ?? -1)), [fold, shape, path]);
  const node = places.node(places.of(path)?.key ?? "");
  if (!node || !isLoop(node) || count < 2) return null;
  const chosen = turns.get(node.key);
  const word = node.kind === "repeat" ? "round" : "item";
  const all = Array.from({ length: count }, (_, at) => at);
  if (count > TABS_MAX) {
    return (
      <label className={styles.turns}>
        {word}{" "}
        <select value={chosen ?? "all"} onChange={(event) => setTurn(node.key, event.target.value === "all" ? undefined : Number(event.target.value))}>
          <option value="all">all {count}</option>
          {all.map((at) => <option key={at} value={at}>{at + 1}</option>)}
        </select>
      </label>
    );
  }
  return (
    <div className={styles.turns} role="group" aria-label={`Which ${word} of ${path}`}>
      {[undefined, ...all].map((at) => (
        <button key={at ?? "all"} type="button" className={styles.turn} aria-pressed={chosen === at} onClick={() => setTurn(node.key, at)}>
          {at === undefined ? `all ${count}` : `${word} ${at + 1}`}
        </button>
      ))}
    </div>
  );
}
