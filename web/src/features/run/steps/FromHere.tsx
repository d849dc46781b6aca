// Runs the steps from this one again: in the same run if it is over, or in a new run.

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { address, post } from "../../../api/client";
import { newKey } from "../../../api/key";
import type { Path } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { Confirm } from "../../../ui/Confirm";
import { Actions } from "../../../ui/Dialog";
import { ErrorNote } from "../../../ui/Note";
import { useMay } from "../../../ui/useMay";
import { useWatched } from "../state/useRun";

export function FromHere({ path }: { path: Path }) {
  const { run, fold } = useWatched();
  const may = useMay();
  const navigate = useNavigate();
  const [key] = useState(newKey);
  const [asking, ask] = useState<"retry" | "fork">();
  const close = () => ask(undefined);
  const retry = useMutation({ mutationFn: () => post(address(`/runs/${run}/retry`), { from: path }) });
  const fork = useMutation({
    mutationFn: () => post<{ run: string }>(address(`/runs/${run}/fork`), { from: path }, key),
    onSuccess: ({ run }) => void navigate({ to: "/runs/$run", params: { run }, search: {} }),
  });
  if (!may) return null;
  const status = fold?.head.status;
  const error = retry.error ?? fork.error;
  return (
    <>
      {error && <ErrorNote error={error} />}
      <Actions>
        {(status === "failed" || status === "cancelled") && (
          <Button disabled={retry.isPending} onClick={() => ask("retry")}>
            Retry from here
          </Button>
        )}
        <Button
          disabled={fork.isPending}
          onClick={() => ask("fork")}
          title="A new run that shares all steps before this one"
        >
          Fork from here
        </Button>
      </Actions>
      {asking === "retry" && (
        <Confirm title={`Retry from ${path}?`} yes="Retry from here" close={close} confirm={() => retry.mutate()}>
          <p>This step and the steps after it run again in this run, and replace their results. Agents may cost money.</p>
        </Confirm>
      )}
      {asking === "fork" && (
        <Confirm title={`Fork from ${path}?`} yes="Fork from here" close={close} confirm={() => fork.mutate()}>
          <p>A new run starts. It keeps the results of all steps before this one, and runs the rest again. This run does not change. Agents may cost money.</p>
        </Confirm>
      )}
    </>
  );
}
