// Pause, unpause, cancel, retry, fix and retry.

import { useState } from "react";
import { Button } from "../../../ui/Button";
import { Confirm } from "../../../ui/Confirm";
import { Actions, Dialog } from "../../../ui/Dialog";
import { Field } from "../../../ui/Field";
import { cost } from "../../../ui/format";
import { ErrorNote, Note } from "../../../ui/Note";
import { useMay } from "../../../ui/useMay";
import { FixDialog } from "../../fix/FixDialog";
import type { Head } from "../state/fold";
import { useCommand } from "./useCommand";

export function RunActions({ head: { run, status, usage } }: { head: Head }) {
  const may = useMay();
  const [asking, ask] = useState<"cancel" | "retry">();
  const tell = useCommand(run);
  const close = () => ask(undefined);
  const [fixing, fix] = useState(false);
  if (!may) return null;
  const spent = usage.usd > 0 ? `; so far this run cost ${cost(usage)}` : "";
  const is = (...statuses: string[]) => statuses.includes(status);
  return (
    <>
      <Actions>
        {is("queued", "running", "waiting") && (
          <Button disabled={tell.isPending} onClick={() => tell.send({ verb: "pause" })}>
            Pause
          </Button>
        )}
        {is("paused") && (
          <Button look="main" disabled={tell.isPending} onClick={() => tell.send({ verb: "unpause" })}>
            Continue
          </Button>
        )}
        {is("queued", "running", "waiting", "paused") && (
          <Button disabled={tell.isPending} onClick={() => tell.send({ verb: "stop" })}>
            Stop
          </Button>
        )}
        {is("stopped") && (
          <Button look="main" disabled={tell.isPending} onClick={() => tell.send({ verb: "resume" })}>
            Resume
          </Button>
        )}
        {is("failed", "cancelled") && (
          <Button look="main" disabled={tell.isPending} onClick={() => ask("retry")}>
            Retry
          </Button>
        )}
        {is("failed", "cancelled", "paused", "waiting", "stopped") && <Button onClick={() => fix(true)}>Fix and retry</Button>}
        {is("queued", "running", "waiting", "paused", "stopped") && (
          <Button look="danger" disabled={tell.isPending} onClick={() => ask("cancel")}>
            Cancel
          </Button>
        )}
      </Actions>
      {tell.error && <ErrorNote error={tell.error} />}
      {fixing && <FixDialog run={run} close={() => fix(false)} />}
      {tell.news && (
        <Note tone={tell.news.tone} role="status">
          <p>{tell.news.text}</p>
        </Note>
      )}
      {asking === "retry" && (
        <Confirm title="Retry this run?" yes="Retry the run" close={close} confirm={() => tell.send({ verb: "retry" })}>
          <p>The failed steps run again, and the steps after them. Finished steps keep their results. Agents may cost money{spent}.</p>
        </Confirm>
      )}
      {asking === "cancel" && (
        <CancelDialog
          close={close}
          confirm={(reason) => {
            close();
            tell.send({ verb: "cancel", body: reason ? { reason } : {} });
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
      <Field label="The reason (optional)" text={reason} type={type} />
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
