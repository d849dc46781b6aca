// Steps that no worker has claimed: all suitable workers are busy, or there is none.

import type { OpenDuty } from "../../api/types";
import { Note } from "../../ui/Note";
import { Words } from "../../ui/Words";
import { DutyLink } from "./Duties";
import { remedy } from "./remedy";
import styles from "./workers.module.css";

export function Waiting({ waiting }: { waiting: OpenDuty[] }) {
  const [stuck, queued] = [waiting.filter(({ nobody }) => nobody), waiting.filter(({ nobody }) => !nobody)];
  return (
    <>
      {stuck.length > 0 && (
        <Note tone="bad">
          <h2>No worker can do this</h2>
          <List open={stuck} />
        </Note>
      )}
      {queued.length > 0 && (
        <Note tone="wait">
          <h2>Waits for a free slot</h2>
          <p className="quiet">A worker can do it, but has no free slot, or a limit on all workers is reached.</p>
          <List open={queued} />
        </Note>
      )}
    </>
  );
}

/** The sentence without the step, which the link before it names. */
const NAMED = /^`[^`]*` /;

function List({ open }: { open: OpenDuty[] }) {
  return (
    <ul className={styles.waiting}>
      {open.map((one) => (
        <li key={`${one.run} ${one.path}`}>
          <DutyLink duty={one} />
          <p>
            <Words text={one.text.replace(NAMED, "")} />
          </p>
          {one.nobody && <Remedy open={one} />}
        </li>
      ))}
    </ul>
  );
}

function Remedy({ open }: { open: OpenDuty }) {
  const { where, command } = remedy(open);
  return (
    <p className="quiet">
      {where} <code>{command}</code>
    </p>
  );
}
