// A native dialog of the browser: it keeps the focus inside, closes with Escape, and returns the focus.

import { type ReactNode, useEffect, useId, useRef } from "react";
import styles from "./ui.module.css";

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} className={styles.dialog} aria-labelledby={id} onClose={close}>
      <div className={styles.dialogBody}>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export function Actions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>;
}
