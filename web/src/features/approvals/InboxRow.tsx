// A question on one line: what is asked, of which run, since when, and who may answer.

import type { Question } from "../../api/types";
import { ago, moment } from "../../ui/format";
import { oneLine } from "../../ui/markdown/parse";
import { useNow } from "../../ui/useNow";
import styles from "./approvals.module.css";
import { keyOf } from "./inbox";
import { whoMay } from "./people";
import { WORDS } from "./QuestionCard";

export function InboxRow({ question, isOpen, open }: { question: Question; isOpen: boolean; open: () => void }) {
  const now = useNow(true, 5_000);
  const { kind, text, task, run, workflow, asked_at, needed, approved = [] } = question;
  return (
    <button type="button" className={styles.row} data-row={keyOf(question)} aria-expanded={isOpen} onClick={open}>
      <span className={styles.what}>
        <span className={styles.kind}>{WORDS[kind]}</span>
        <span className={styles.line}>{oneLine(text)}</span>
      </span>
      <span className={styles.facts}>
        <span className={styles.line}>{task || run}</span>
        <span className={styles.workflow}>{workflow}</span>
        <span title={moment(asked_at)}>{ago(asked_at, now)}</span>
        {needed !== undefined && (
          <span>
            {approved.length} of {needed}
          </span>
        )}
        <span className={styles.may}>{whoMay(question)}</span>
      </span>
    </button>
  );
}
