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
import { fieldsOf } from "../../ui/form/model";
import { SchemaForm, useSchemaForm } from "../../ui/form/SchemaForm";
import { ErrorNote } from "../../ui/Note";

export function RunDialog({ workflow: { name, inputs }, close }: { workflow: Workflow; close: () => void }) {
  const navigate = useNavigate();
  // One key per dialog: two clicks start one run.
  const [key] = useState(newKey);
  const [task, setTask] = useState("");
  const form = useSchemaForm(schemaOf(inputs), undefined);
  const start = useMutation({
    mutationFn: (values: Record<string, Json>) => post<{ run: string }>(address("/runs"), { workflow: name, task, inputs: values }, key),
    onSuccess: ({ run }) => void navigate({ to: "/runs/$run", params: { run }, search: {} }),
  });
  const hasInputs = Object.keys(inputs).length > 0;
  const submit = () => {
    const read = hasInputs ? form.submit() : { value: {} };
    if (read) start.mutate(fieldsOf(read.value) ?? {});
  };
  return (
    <Dialog title={`Run ${name}`} close={close}>
      <form
        method="dialog"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label="Task" text={task} type={setTask} hint="The task, in your words." rows={3} />
        {hasInputs && <SchemaForm state={form} label="Inputs" />}
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

/** The inputs as one schema. */
function schemaOf(inputs: Record<string, Input>): Json {
  const property = ({ schema, default: suggested, description }: Input): Json => ({
    ...fieldsOf(schema),
    ...(suggested === undefined ? {} : { default: suggested }),
    ...(description ? { description } : {}),
  });
  const entries = Object.entries(inputs);
  const required = entries.filter(([, input]) => input.default === undefined && !input.optional).map(([name]) => name);
  return { type: "object", title: "Inputs", required, properties: Object.fromEntries(entries.map(([name, input]) => [name, property(input)])) };
}
