// Chooses an item or a round of a loop.

import { useMemo } from "react";
import type { Path } from "../../../api/types";
import { indexInside } from "../state/path";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { isLoop } from "../graph/nodes";
import { TurnField } from "../graph/TurnField";
import styles from "./steps.module.css";

/** With more turns, tabs do not help. */
const TABS_MAX = 8;

export function TurnTabs({ path }: { path: Path }) {
  const { fold } = useWatched();
  const { places, turns, setTurn } = useView();
  const shape = fold?.shape;
  const count = useMemo(
    () => 1 + (fold?.inside.get(path) ?? []).reduce((most, inner) => Math.max(most, indexInside(inner) ?? -1), -1),
    [fold, shape, path],
  );
  const node = places.node(places.of(path)?.key ?? "");
  if (!node || !isLoop(node) || count < 2) return null;
  const chosen = turns.get(node.key);
  const word = node.kind === "repeat" ? "round" : "item";
  const label = `Which ${word} of ${path}`;
  if (count > TABS_MAX)
    return (
      <div className={styles.turns}>
        <TurnField
          word={word}
          label={label}
          count={count}
          chosen={chosen}
          choose={(turn) => setTurn(node.key, turn)}
          className={styles.turn}
        />
      </div>
    );
  const all = Array.from({ length: count }, (_, at) => at);
  return (
    <div className={styles.turns} role="group" aria-label={label}>
      {[undefined, ...all].map((at) => (
        <button key={at ?? "all"} type="button" className={styles.turn} aria-pressed={chosen === at} onClick={() => setTurn(node.key, at)}>
          {at === undefined ? `all ${count}` : `${word} ${at}`}
        </button>
      ))}
    </div>
  );
}
