// Why the run does not continue, in words.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workersQuery } from "../../../api/queries";
import type { Path, Why } from "../../../api/types";
import { sentence } from "../../../ui/format";
import { Note } from "../../../ui/Note";
import { Words } from "../../../ui/Words";
import { goToCard } from "../../approvals/QuestionCard";
import styles from "../run.module.css";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";

/** The most lines that are shown. */
const SHOWN_MAX = 6;

export function WhyPanel() {
  const { fold } = useWatched();
  const forWorker = useForWorker();
  const waiting = (why: Why) => {
    const status = why.path === undefined ? "waiting" : fold?.steps.get(why.path)?.status;
    return status === undefined || status === "waiting" || status === "pending";
  };
  // The sentences come from the last snapshot; those about steps that have continued since are outdated.
  const known = (fold?.head.why ?? []).filter(waiting);
  const isStill = fold?.head.status === "waiting" || fold?.head.status === "paused" || fold?.head.status === "stopped" || fold?.head.status === "queued";
  // A step may wait for a worker forever, so it is shown even if something else is running.
  const all = isStill ? known : known.filter(({ path }) => path !== undefined && forWorker.has(path));
  if (all.length === 0) return null;
  return (
    <Note tone="wait">
      <h2 className={styles.whyTitle}>{isStill ? "Why it waits" : "What waits"}</h2>
      <ul className={styles.why}>
        {all.slice(0, SHOWN_MAX).map((why) => (
          <li key={`${why.path ?? ""} ${why.text}`}>
            <Sentence why={{ ...why, text: forWorker.get(why.path ?? "") ?? why.text }} />
          </li>
        ))}
      </ul>
      {all.length > SHOWN_MAX && <p className="quiet">and {all.length - SHOWN_MAX} more</p>}
      {forWorker.size > 0 && (
        <p>
          <Link to="/workers">Workers</Link> <span className="quiet">lists the workers, and shows how to start one.</span>
        </p>
      )}
    </Note>
  );
}

/** Steps that wait for a worker, and why no worker claims them: that changes without events in the run. */
function useForWorker(): ReadonlyMap<Path, string | undefined> {
  const { fold } = useWatched();
  const paths = [...(fold?.waiting ?? [])].filter(([, what]) => what === "worker").map(([path]) => path);
  const { data } = useQuery({ ...workersQuery, enabled: paths.length > 0 });
  const text = (path: Path) => data?.waiting.find((open) => open.run === fold?.head.run && open.path === path)?.text;
  return new Map(paths.map((path) => [path, text(path)]));
}

/** A duration that is as old as the snapshot. The page removes it; the question itself shows how long ago it was asked. */
const SO_FAR = / \([^()]* so far\)/;

function Sentence({ why }: { why: Why }) {
  const { select } = useView();
  const text = why.text.replace(SO_FAR, "");
  if (why.path === undefined) return <Words text={sentence(text)} />;
  const { path } = why;
  return (
    <button type="button" className={styles.link} onClick={() => goToCard(path) || select(path)}>
      <Words text={text} />
    </button>
  );
}
