// How often a workflow succeeded.

import type { Tally } from "../../api/types";
import styles from "./workflows.module.css";

export function Rate({ runs: { succeeded, failed, open } }: { runs: Tally }) {
  const all = succeeded + failed;
  return (
    <>
      {all > 0 && (
        <span className={styles.rate} title={`${succeeded} of ${all} succeeded`}>
          <meter min={0} max={all} value={succeeded} aria-label="Success rate" /> {Math.round((100 * succeeded) / all)}% succeeded
        </span>
      )}
      {open > 0 && <span>{open} under way</span>}
    </>
  );
}
