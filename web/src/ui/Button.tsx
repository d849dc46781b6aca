// Buttons, and links that look like them.

import type { ButtonHTMLAttributes } from "react";
import styles from "./ui.module.css";

type Look = "main" | "danger" | "quiet" | "plain";

export const buttonClass = styles.button ?? "";

export function Button({ look = "plain", type = "button", ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look }) {
  return <button type={type} className={styles.button} data-look={look} {...rest} />;
}
