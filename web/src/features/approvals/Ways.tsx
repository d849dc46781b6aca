// The ways to answer a question: buttons, a reason for a denial, and a form for a value.

import { type FormEvent, useState } from "react";
import { ApiError } from "../../api/client";
import type { Answer, Question } from "../../api/types";
import { Button } from "../../ui/Button";
import { Actions } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { SchemaForm, useSchemaForm } from "../../ui/form/SchemaForm";
import { choicesFor, denialFor, typedFor } from "./answers";
import styles from "./approvals.module.css";

interface Props {
  question: Question;
  busy: boolean;
  say: (answer: Answer, refused?: (error: Error) => void) => void;
  /** Whether the user has approved, and can only deny. */
  onlyDeny?: boolean;
}

/** The form that is open, if there is one. */
type Typing = "reason" | "value" | undefined;

export function Ways({ question, busy, say, onlyDeny = false }: Props) {
  const value = onlyDeny ? undefined : typedFor(question);
  const [typing, start] = useState<Typing>(value?.means === "value" ? "value" : undefined);
  const denial = denialFor(question);
  if (typing === "reason") return <Reason title={denial ?? ""} busy={busy} say={say} back={() => start(undefined)} />;
  if (typing === "value" && value)
    return (
      <Typed question={question} way={value} busy={busy} say={say} back={value.means === "edit" ? () => start(undefined) : undefined} />
    );
  const choices = onlyDeny ? [] : choicesFor(question);
  return (
    <Actions>
      {choices.map(({ title, answer, look }, at) => (
        <Button key={at} look={look} disabled={busy} onClick={() => say(answer)}>
          {title}
        </Button>
      ))}
      {value && (
        <Button disabled={busy} onClick={() => start("value")}>
          {question.kind === "operator" ? "Give the result" : "Edit"}
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

function prevented(then: () => void) {
  return (event: FormEvent) => {
    event.preventDefault();
    then();
  };
}

function Reason({ title, busy, say, back }: Pick<Props, "busy" | "say"> & { title: string; back: () => void }) {
  const [reason, type] = useState("");
  return (
    <form className={styles.form} onSubmit={prevented(() => say({ deny: reason ? { reason } : {} }))}>
      <Field label="The reason (optional)" text={reason} type={type} />
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

interface TypedProps extends Props {
  way: { title: string; means: "edit" | "value" };
  back: (() => void) | undefined;
}

function Typed({ question, way, busy, say, back }: TypedProps) {
  const { output } = question;
  // Without a schema, a reviewed value that is not text can become any value.
  const schema = question.schema ?? (way.means === "edit" && output !== undefined && typeof output !== "string" ? {} : undefined);
  const form = useSchemaForm(schema, output);
  const send = () => {
    const read = form.submit();
    if (!read) return;
    const answer: Answer = way.means === "edit" ? { edit: { value: read.value } } : { value: { value: read.value } };
    say(answer, (error) => {
      const fields = error instanceof ApiError ? (error.problem.fields ?? []) : [];
      form.complain(new Map(fields.map(({ at, message }) => [at, message])));
    });
  };
  return (
    <form className={styles.form} noValidate onSubmit={prevented(send)}>
      <SchemaForm state={form} label={way.means === "edit" ? "Your value" : "Your answer"} />
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
