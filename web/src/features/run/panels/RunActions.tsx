// Pause, unpause, cancel, retry, fix and retry.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { address, post } from "../../../api/client";
import { Button } from "../../../ui/Button";
import { Actions, Dialog } from "../../../ui/Dialog";
import { Field } from "../../../ui/Field";
import { ErrorNote } from "../../../ui/Note";
import { useMay } from "../../../ui/useMay";
import { FixDialog } from "../../fix/FixDialog";
import type { Head } from "../state/fold";

type Verb = "pause" | "unpause" | "retry" | "cancel";

export function RunActions({ head: { run, status } }: { head: Head }) {
  const may = useMay();
  const [cancelling, cancel] = useState(false);
  const [fixing, fix] = useState(false);
  const tell = useMutation({
    mutationFn: ({ verb, body = {} }: { verb: Verb; body?: object }) => post(address(`/runs/${run}/${verb}`), body),
  });
  if (!may) return null;
  const is = (...statuses: string[]) => statuses.includes(status);
  return (
    <>
      <Actions>
        {is("queued", "running", "waiting") && (
          <Button disabled={tell.isPending} onClick={() => tell.mutate({ verb: "pause" })}>
            Pause
          </Button>
        )}
        {is("paused") && (
          <Button look="main" disabled={tell.isPending} onClick={() => tell.mutate({ verb: "unpause" })}>
            Continue
          </Button>
        )}
        {is("failed", "cancelled") && (
          <Button look="main" disabled={tell.isPending} onClick={() => tell.mutate({ verb: "retry" })}>
            Retry
          </Button>
        )}
        {is("failed", "cancelled", "paused", "waiting") && <Button onClick={() => fix(true)}>Fix and retry</Button>}
        {is("queued", "running", "waiting", "paused") && (
          <Button look="danger" disabled={tell.isPending} onClick={() => cancel(true)}>
            Cancel
          </Button>
        )}
      </Actions>
      {tell.error && <ErrorNote error={tell.error} />}
      {fixing && <FixDialog run={run} close={() => fix(false)} />}
      {cancelling && (
        <CancelDialog
          close={() => cancel(false)}
          confirm={(reason) => {
            cancel(false);
            tell.mutate({ verb: "cancel", body: reason ? { reason } : {} });
          }}
        />
      )}
    </>
  );
}

function CancelDialog({ close, confirm }: { close: () => void; confirm: (reason: string) => void }) {
  const [reason, type] = useState("");
  return (
    <Dialog title="Cancel this run?" close={close}>
      <p>Running steps stop. Finished steps stay, and you can retry a cancelled run.</p>
      <Field label="The reason (optional)" schema={undefined} text={reason} type={type} />
      <Actions>
        <Button look="quiet" onClick={close}>
          Keep it running
        </Button>
        <Button look="danger" onClick={() => confirm(reason)}>
          Cancel the run
        </Button>
      </Actions>
    </Dialog>
  );
}
