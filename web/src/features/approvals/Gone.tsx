// In place of a question that is not open any more: what became of it, and the way to the next one.

import { Button } from "../../ui/Button";
import styles from "./approvals.module.css";
import { Outcomes, useOutcomes } from "./Outcomes";

export function Gone({ of, next }: { of: string; next: (() => void) | undefined }) {
  const isOurs = useOutcomes().some(({ run, path }) => of.startsWith(`${run} ${path} `));
  return (
    <div className={styles.gone}>
      <Outcomes />
      {!isOurs && <p role="status">This question is not open any more. Another person answered it, or its run ended.</p>}
      {next && (
        <div>
          <Button onClick={next}>Next question</Button>
        </div>
      )}
    </div>
  );
}
