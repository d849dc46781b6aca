// Asks before something that spends money.

import type { ReactNode } from "react";
import { Button } from "./Button";
import { Actions, Dialog } from "./Dialog";

interface Props {
  title: string;
  /** What happens. */
  children: ReactNode;
  /** The word on the button that does it. */
  yes: string;
  close: () => void;
  confirm: () => void;
}

export function Confirm({ title, children, yes, close, confirm }: Props) {
  return (
    <Dialog title={title} close={close}>
      {children}
      <Actions>
        <Button look="quiet" onClick={close}>
          Not now
        </Button>
        <Button
          look="main"
          onClick={() => {
            close();
            confirm();
          }}
        >
          {yes}
        </Button>
      </Actions>
    </Dialog>
  );
}
