// Answering a question where it is shown; or the reason why that is not possible here.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { address, post } from "../../api/client";
import type { Answer, Question } from "../../api/types";
import { Button } from "../../ui/Button";
import { Actions } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { Fold } from "../../ui/Fold";
import { sentence } from "../../ui/format";
import { ErrorNote, Note } from "../../ui/Note";
import { typed, written } from "../../ui/schema";
import { ONLY_LOOKS, useMay } from "../../ui/useMay";
import { choicesFor, denialFor, typedFor } from "./answers";
import styles from "./approvals.module.css";

export function AnswerForm({ question }: { question: Question }) {
  const may = useMay();
  const [overriding, override] = useState(false);
  const [comment, type] = useState("");
  const client = useQueryClient();
  const { run, path, shown, here } = question;
  const say = useMutation({
    mutationFn: (answer: Answer) =>
      post(address(`/runs/${run}/answer`), {
        path,
        answer,
        shown,
        ...(comment ? { comment } : {}),
        ...(overriding ? { override: true } : {}),
      }),
    onSettled: () => void client.invalidateQueries({ queryKey: ["questions"] }),
  });
  if (!may) return <Note tone="wait">{ONLY_LOOKS}</Note>;
  if (!here.ok && !overriding) return <NotHere question={question} override={() => override(true)} />;
  return (
    <div className={styles.form}>
      {say.error && <ErrorNote error={say.error} />}
      {say.isSuccess ? (
        <p role="status" className="quiet">
          Answered; the run continues.
        </p>
      ) : (
        <>
          <Ways question={question} busy={say.isPending} say={say.mutate} />
          <Fold title="Add a comment">
            {() => <Field label="For others to read" schema={undefined} text={comment} type={type} />}
          </Fold>
        </>
      )}
    </div>
  );
}

function NotHere({ question: { here }, override }: { question: Question; override: () => void }) {
  return (
    <Note tone="wait">
      <p>{sentence(here.why ?? "this is answered elsewhere")}</p>
      {here.override && (
        <div>
          <Button onClick={override}>Answer in their place</Button>
        </div>
      )}
    </Note>
  );
}

interface WaysProps {
  question: Question;
  busy: boolean;
  say: (answer: Answer) => void;
}

/** What is being typed, if anything. */
type Typing = "reason" | "value" | undefined;

function Ways({ question, busy, say }: WaysProps) {
  const value = typedFor(question);
  const [typing, start] = useState<Typing>(value?.means === "value" ? "value" : undefined);
  const denial = denialFor(question);
  if (typing === "reason") return <Reason title={denial ?? ""} busy={busy} say={say} back={() => start(undefined)} />;
  if (typing === "value" && value)
    return (
      <Typed question={question} way={value} busy={busy} say={say} back={value.means === "edit" ? () => start(undefined) : undefined} />
    );
  return (
    <Actions>
      {choicesFor(question).map(({ title, answer, look }) => (
        <Button key={title} look={look} disabled={busy} onClick={() => say(answer)}>
          {title}
        </Button>
      ))}
      {value && (
        <Button disabled={busy} onClick={() => start("value")}>
          Edit
        </Button>
      )}
      {denial && (
        <Button look="danger" disabled={busy} onClick={() => start("reason")}>
          {denial}
        </Button>
      )}
    </Actions>
  );
}

function Reason({ title, busy, say, back }: { title: string; busy: boolean; say: (answer: Answer) => void; back: () => void }) {
  const [reason, type] = useState("");
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        say({ deny: reason ? { reason } : {} });
      }}
    >
      <Field label="Why? It may be left empty" schema={undefined} text={reason} type={type} />
      <Actions>
        <Button type="submit" look="danger" disabled={busy}>
          {title}
        </Button>
        <Button look="quiet" onClick={back}>
          Back
        </Button>
      </Actions>
    </form>
  );
}

interface TypedProps extends WaysProps {
  way: { title: string; means: "edit" | "value" };
  back: (() => void) | undefined;
}

function Typed({ question, way, busy, say, back }: TypedProps) {
  const schema = question.schema ?? (way.means === "edit" && typeof question.output !== "string" ? {} : undefined);
  const [text, type] = useState(written(question.output));
  const [wrong, complain] = useState<string>();
  const send = () => {
    const read = typed(schema, text);
    if ("wrong" in read) return complain(read.wrong);
    say(way.means === "edit" ? { edit: { value: read.value } } : { value: { value: read.value } });
  };
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Field
        label={way.means === "edit" ? "Instead of it" : "Your answer"}
        schema={schema}
        text={text}
        type={type}
        rows={3}
        {...(wrong ? { wrong } : {})}
      />
      <Actions>
        <Button type="submit" look="main" disabled={busy}>
          {way.title}
        </Button>
        {back && (
          <Button look="quiet" onClick={back}>
            Back
          </Button>
        )}
      </Actions>
    </form>
  );
}
