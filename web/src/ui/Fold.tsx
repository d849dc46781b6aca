// A section that can be opened. Its content is made only when it opens.

import { type ReactNode, useState } from "react";
import styles from "./ui.module.css";

export function Fold({ title, open = false, children }: { title: ReactNode; open?: boolean; children: () => ReactNode }) {
  const [shown, show] = useState(open);
  return (
    <details className={styles.fold} open={shown} onToggle={(event) => show(event.currentTarget.open)}>
      <summary>{title}</summary>
      {shown && children()}
    </details>
  );
}
