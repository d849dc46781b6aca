// Runs the steps from this one again: in the same run if it is over, or in a new run.

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { address, post } from "../../../api/client";
import { newKey } from "../../../api/key";
import type { Path } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { Actions } from "../../../ui/Dialog";
import { ErrorNote } from "../../../ui/Note";
import { useMay } from "../../../ui/useMay";
import { useWatched } from "../state/useRun";

export function FromHere({ path }: { path: Path }) {
  const { run, fold } = useWatched();
  const may = useMay();
  const navigate = useNavigate();
  const [key] = useState(newKey);
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
          <Button disabled={retry.isPending} onClick={() => retry.mutate()}>
            Retry from here
          </Button>
        )}
        <Button
          disabled={fork.isPending}
          onClick={() => fork.mutate()}
          title="A new run that shares all steps before this one"
        >
          Fork from here
        </Button>
      </Actions>
    </>
  );
}
