// In place of a question that is not open any more: what became of it, and the way to the next one.

import { useEffect, useRef } from "react";
import { Button } from "../../ui/Button";
import styles from "./approvals.module.css";
import { Outcomes, useOutcomes } from "./Outcomes";

export function Gone({ of, next }: { of: string; next: (() => void) | undefined }) {
  const isOurs = useOutcomes().some(({ run, path }) => of.startsWith(`${run} ${path} `));
  const box = useRef<HTMLDivElement>(null);
  // On a phone it stands above the list, and the user may be far below.
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div className={styles.gone} ref={box}>
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
