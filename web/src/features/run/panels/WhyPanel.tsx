// Why the run does not go on, in words.

import type { Why } from "../../../api/types";
import { Note } from "../../../ui/Note";
import { Words } from "../../../ui/Words";
import styles from "../run.module.css";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";

/** More than that nobody reads. */
const SHOWN_MAX = 6;

export function WhyPanel() {
  const { fold } = useWatched();
  const waiting = (why: Why) => {
    const status = why.path === undefined ? "waiting" : fold?.steps.get(why.path)?.status;
    return status === undefined || status === "waiting" || status === "pending";
  };
  // The sentences are as old as the last snapshot; those about steps that went on since are not true any more.
  const all = (fold?.head.why ?? []).filter(waiting);
  const isStill = fold?.head.status === "waiting" || fold?.head.status === "paused" || fold?.head.status === "queued";
  if (all.length === 0 || !isStill) return null;
  return (
    <Note tone="wait">
      <h2 className={styles.whyTitle}>Why it waits</h2>
      <ul className={styles.why}>
        {all.slice(0, SHOWN_MAX).map((why) => (
          <li key={`${why.path ?? ""} ${why.text}`}>
            <Sentence why={why} />
          </li>
        ))}
      </ul>
      {all.length > SHOWN_MAX && <p className="quiet">and {all.length - SHOWN_MAX} more</p>}
    </Note>
  );
}

/** How long it was when the server said so. It grows older on the page, and the question says how long ago it was asked. */
const SO_FAR = / \([^()]* so far\)/;

function Sentence({ why }: { why: Why }) {
  const { select } = useView();
  const text = <Words text={why.text.replace(SO_FAR, "")} />;
  if (why.path === undefined) return text;
  const { path } = why;
  return (
    <button type="button" className={styles.link} onClick={() => select(path)}>
      {text}
    </button>
  );
}
