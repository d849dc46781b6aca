// Fix and retry: edits the text that a run holds, shows what is kept and what runs again, and continues the run.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, address, get, post } from "../../api/client";
import { Button } from "../../ui/Button";
import { Actions, Dialog } from "../../ui/Dialog";
import { ErrorNote } from "../../ui/Note";
import { Editor } from "./Editor";
import { type Choices, change, type Comparison, decided, fate, type Replanned, type Source, sum } from "./fix";
import styles from "./fix.module.css";

const NOTHING: Choices = { keep: [], again: [] };

export function FixDialog({ run, close }: { run: string; close: () => void }) {
  const source = useQuery({
    queryKey: ["source", run],
    queryFn: ({ signal }) => get<Source>(address(`/runs/${run}/source`), signal),
    staleTime: 0,
  });
  return (
    <Dialog title="Fix and retry" close={close}>
      {source.error && <ErrorNote error={source.error} />}
      {source.isPending && <p className="quiet">Loading the text of the run…</p>}
      {source.data && <Fix run={run} source={source.data} close={close} />}
    </Dialog>
  );
}

function Fix({ run, source, close }: { run: string; source: Source; close: () => void }) {
  const [text, type] = useState(source.text);
  const [choices, choose] = useState(NOTHING);
  const send = (more: object) => post<Replanned>(address(`/runs/${run}/replan`), { text, ...choices, ...more });
  const preview = useMutation({ mutationFn: (chosen: Choices) => send({ preview: true, ...chosen }) });
  const apply = useMutation({
    mutationFn: (expect: string) => send({ expect }),
    // The steps and the picture of the run are others now.
    onSuccess: () => window.location.reload(),
  });
  const compared = preview.data?.comparison;
  const edit = (now: string) => {
    type(now);
    preview.reset();
    apply.reset();
  };
  const decide = (step: string, keeps: boolean) => {
    const chosen = decided(choices, step, keeps);
    choose(chosen);
    preview.mutate(chosen);
  };
  return (
    <>
      <p className="quiet">
        {source.file ? `From ${source.file}. ` : ""}Your changes apply to this run only; they are not written to a file.
      </p>
      <Editor text={text} type={edit} diagnostics={diagnostics(preview.error)} />
      {preview.error && <ErrorNote error={preview.error} />}
      {apply.error && <ErrorNote error={apply.error} />}
      {compared && <Rows comparison={compared} decide={decide} />}
      <Actions>
        <Button look="quiet" onClick={close}>
          Close
        </Button>
        <Button disabled={preview.isPending} onClick={() => preview.mutate(choices)}>
          Compare
        </Button>
        {compared && compared.asks.length === 0 && (
          <Button look="main" disabled={apply.isPending || apply.isSuccess} onClick={() => apply.mutate(compared.hash)}>
            Continue the run
          </Button>
        )}
      </Actions>
    </>
  );
}

function diagnostics(error: Error | null) {
  return (error instanceof ApiError && error.problem.diagnostics) || [];
}

function Rows({ comparison, decide }: { comparison: Comparison; decide: (step: string, keeps: boolean) => void }) {
  return (
    <section aria-label="What is kept, and what runs again">
      <div className={styles.scroll}>
        <table className={styles.rows}>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Change</th>
              <th scope="col">Then</th>
            </tr>
          </thead>
          <tbody>
            {comparison.rows.map((row, at) => (
              // Two branches may have steps with the same ids.
              <tr key={`${at}${row.step}`} data-fate={row.fate}>
                <td className="mono">{row.step}</td>
                <td>{change(row)}</td>
                <td>
                  {fate(row)}
                  {row.fate === "asks" && (
                    <Actions>
                      <Button onClick={() => decide(row.step, true)}>Keep the result of {row.was}</Button>
                      <Button onClick={() => decide(row.step, false)}>Run it</Button>
                    </Actions>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {comparison.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      <p>
        <strong>{sum(comparison)}</strong>
      </p>
    </section>
  );
}
