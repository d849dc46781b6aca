// Starts a run: asks for the task, and for the inputs by their types.

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { address, post } from "../../api/client";
import { newKey } from "../../api/key";
import type { Input, Json, Workflow } from "../../api/types";
import { Button } from "../../ui/Button";
import { Actions, Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { ErrorNote } from "../../ui/Note";
import { typed, written } from "../../ui/schema";

type Texts = Record<string, string>;

export function RunDialog({ workflow: { name, inputs }, close }: { workflow: Workflow; close: () => void }) {
  const navigate = useNavigate();
  // One key per dialog: two clicks start one run.
  const [key] = useState(newKey);
  const [task, setTask] = useState("");
  const [texts, setTexts] = useState<Texts>(() =>
    Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, written(input.default)])),
  );
  const [wrong, complain] = useState<Texts>({});
  const start = useMutation({
    mutationFn: (values: Record<string, Json>) => post<{ run: string }>(address("/runs"), { workflow: name, task, inputs: values }, key),
    onSuccess: ({ run }) => void navigate({ to: "/runs/$run", params: { run }, search: {} }),
  });
  const submit = () => {
    const read = readInputs(inputs, texts);
    complain(read.wrong);
    if (Object.keys(read.wrong).length === 0) start.mutate(read.values);
  };
  return (
    <Dialog title={`Run ${name}`} close={close}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label="Task" schema={undefined} text={task} type={setTask} hint="The task, in your words." rows={3} />
        {Object.entries(inputs).map(([name, input]) => (
          <Field
            key={name}
            label={name}
            schema={input.schema}
            text={texts[name] ?? ""}
            type={(text) => setTexts({ ...texts, [name]: text })}
            hint={input.description}
            rows={1}
            required={isRequired(input)}
            {...(wrong[name] ? { wrong: wrong[name] } : {})}
          />
        ))}
        {start.error && <ErrorNote error={start.error} />}
        <Actions>
          <Button look="quiet" onClick={close}>
            Close
          </Button>
          <Button type="submit" look="main" disabled={start.isPending}>
            Run it
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

function isRequired(input: Input): boolean {
  return input.default === undefined && !input.optional;
}

/** The typed texts as values. Empty optional inputs are left out. */
function readInputs(inputs: Record<string, Input>, texts: Texts): { values: Record<string, Json>; wrong: Texts } {
  const values: Record<string, Json> = {};
  const wrong: Texts = {};
  for (const [name, input] of Object.entries(inputs)) {
    const text = texts[name] ?? "";
    if (text === "" && !isRequired(input)) continue;
    const read = typed(input.schema, text);
    if ("wrong" in read) wrong[name] = read.wrong;
    else values[name] = read.value;
  }
  return { values, wrong };
}
