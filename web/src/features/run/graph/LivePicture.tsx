// The picture of the watched run.

import { lazy, Suspense, useCallback, useMemo } from "react";
import type { Path } from "../../../api/types";
import { Waiting } from "../../../ui/Note";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { nodeStates, type Places, turnCounts } from "./nodes";

const GraphView = lazy(() => import("./GraphView"));

export function LivePicture() {
  const { fold, version } = useWatched();
  const { places, turns, setTurn, selected, select } = useView();
  const picture = useMemo(() => fold?.head.picture, [places]);
  const states = useMemo(() => nodeStates(places, fold?.steps.values() ?? [], turns), [fold, version, places, turns]);
  const counts = useMemo(() => turnCounts(places, fold?.steps.keys() ?? []), [fold, fold?.shape, places]);
  const critical = useMemo(() => new Set(fold?.head.critical_path.flatMap((path) => places.of(path)?.key ?? [])), [fold, places]);
  const choose = useCallback(
    (key: string) => {
      const path = states.get(key)?.paths.at(-1);
      if (path) select(path);
    },
    [states, select],
  );
  if (!picture) return null;
  return (
    <Suspense fallback={<Waiting what="the picture" />}>
      <GraphView
        picture={picture}
        states={states}
        counts={counts}
        turns={turns}
        setTurn={setTurn}
        select={choose}
        critical={critical}
        unreached={fold?.head.ended_at === undefined ? "pending" : "skipped"}
        {...keyOf(places, selected)}
      />
    </Suspense>
  );
}

function keyOf(places: Places, path: Path | undefined): { selected?: string } {
  const key = path && places.of(path)?.key;
  return key ? { selected: key } : {};
}
