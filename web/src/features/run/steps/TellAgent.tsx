// Tells the agent of a step something, and shows what it was told.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { address, post } from "../../../api/client";
import { Button } from "../../../ui/Button";
import { Actions } from "../../../ui/Dialog";
import { Field } from "../../../ui/Field";
import { ErrorNote } from "../../../ui/Note";
import { useMay } from "../../../ui/useMay";
import { Words } from "../../../ui/Words";
import type { FlatStep } from "../state/fold";
import { useWatched } from "../state/useRun";

const OVER = ["succeeded", "failed", "skipped", "cancelled"];

export function TellAgent({ step }: { step: FlatStep }) {
  const { run, fold } = useWatched();
  const may = useMay();
  const [text, type] = useState("");
  const tell = useMutation({
    mutationFn: () => post<{ text: string }>(address(`/runs/${run}/tell`), { step: step.path, text }),
    onSuccess: () => type(""),
  });
  const isOver = OVER.includes(step.status) || OVER.includes(fold?.head.status ?? "");
  return (
    <>
      <Told hints={step.hints ?? []} />
      {may && !isOver && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            tell.mutate();
          }}
        >
          <Field label="Tell the agent" text={text} type={type} hint="Its next turn contains the text." />
          <Actions>
            <Button type="submit" disabled={tell.isPending || text.trim() === ""}>
              Tell
            </Button>
          </Actions>
        </form>
      )}
      {tell.error && <ErrorNote error={tell.error} />}
      {tell.data && <p role="status">{tell.data.text}</p>}
    </>
  );
}

function Told({ hints }: { hints: NonNullable<FlatStep["hints"]> }) {
  if (hints.length === 0) return null;
  return (
    <section aria-label="Told">
      <h2>Told</h2>
      <ul>
        {hints.map((hint, at) => (
          <li key={at}>
            <Words text={hint.text} />
            <span className="quiet">
              {hint.by ? ` · ${hint.by}` : ""} · {hint.heard ? "heard" : "for the next turn"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
