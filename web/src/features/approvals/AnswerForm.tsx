// The form that answers a question, or the reason why this page cannot.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, address, post } from "../../api/client";
import { aboutQuery } from "../../api/queries";
import type { Answer, CommandOutcome, Question } from "../../api/types";
import { Button } from "../../ui/Button";
import { Field } from "../../ui/Field";
import { Fold } from "../../ui/Fold";
import { sentence } from "../../ui/format";
import { ErrorNote, Note } from "../../ui/Note";
import { ONLY_LOOKS, useMay } from "../../ui/useMay";
import styles from "./approvals.module.css";
import { added, applied, isTooLate, OUTCOMES, type Outcome, tooLate } from "./outcomes";
import { hasApproved } from "./people";
import { Ways } from "./Ways";

export function AnswerForm({ question }: { question: Question }) {
  const may = useMay();
  const user = useQuery(aboutQuery).data?.user;
  const [overriding, override] = useState(false);
  const [comment, type] = useState("");
  const client = useQueryClient();
  const { run, path, shown, here } = question;
  const keep = (outcome: Outcome | undefined) => {
    if (outcome) client.setQueryData<Outcome[]>(OUTCOMES, (list) => added(list, outcome));
  };
  const say = useMutation({
    mutationFn: (answer: Answer) =>
      post<CommandOutcome>(address(`/runs/${run}/answer`), {
        path,
        answer,
        shown,
        ...(comment ? { comment } : {}),
        ...(overriding ? { override: true } : {}),
      }),
    onSuccess: (outcome) => keep(applied(outcome)),
    onError: (error) => keep(error instanceof ApiError ? tooLate(run, path, error) : undefined),
    onSettled: () => void client.invalidateQueries({ queryKey: ["questions"] }),
  });
  if (!may) return <Note tone="wait">{ONLY_LOOKS}</Note>;
  const onlyDeny = !here.ok && hasApproved(question, user);
  if (!here.ok && !overriding && !onlyDeny) return <NotHere question={question} override={() => override(true)} />;
  // The question stays open after one of several approvals.
  if (say.isSuccess && !(onlyDeny && say.variables === "approve")) return null;
  const send = (answer: Answer, refused?: (error: Error) => void) => say.mutate(answer, { ...(refused ? { onError: refused } : {}) });
  return (
    <div className={styles.form}>
      {say.error && !isShown(say.error) && <ErrorNote error={say.error} />}
      {onlyDeny && <Note tone="wait">You have approved this. You can still deny it.</Note>}
      <Ways question={question} busy={say.isPending} say={send} onlyDeny={onlyDeny} />
      <Comment kind={question.kind} comment={comment} type={type} />
    </div>
  );
}

/** Whether an error is shown in another place: beside its fields, or as the outcome. */
function isShown(error: Error): boolean {
  return error instanceof ApiError && (isTooLate(error.problem) || (error.problem.fields?.length ?? 0) > 0);
}

/** A text beside the answer. A person who tries a step again often has a hint for its agent. */
function Comment({ kind, comment, type }: { kind: Question["kind"]; comment: string; type: (text: string) => void }) {
  if (kind === "operator")
    return <Field label="A hint for the next attempt (optional)" text={comment} type={type} hint="If an agent does the step, it reads this when it tries again." />;
  return (
    <Fold title="Add a comment">
      {() => <Field label="Comment" text={comment} type={type} hint="People, and later steps and their agents, can read it." />}
    </Fold>
  );
}

function NotHere({ question: { here }, override }: { question: Question; override: () => void }) {
  return (
    <Note tone="wait">
      <p>{sentence(here.why ?? "this question is answered in another place")}</p>
      {here.override && (
        <div>
          <Button onClick={override}>Answer in place of the owner</Button>
        </div>
      )}
    </Note>
  );
}
