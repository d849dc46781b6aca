// The button that turns notices of the browser on and off.

import styles from "../../ui/shell.module.css";
import { type Permission, turnOff, turnOn, usePermission } from "./permission";

const WORDS: Record<Permission, string> = {
  on: "Notifications are on. Click to turn them off.",
  off: "Turn on notifications: when a run asks you something, or ends",
  blocked: "The browser blocks notifications of this page. Allow them in its settings for this site.",
  unavailable: "This browser shows no notifications at this address. They need localhost or HTTPS.",
};

export function NoticeButton() {
  const is = usePermission();
  const isFixed = is === "blocked" || is === "unavailable";
  return (
    <button
      type="button"
      className={styles.theme}
      aria-label={WORDS[is]}
      title={WORDS[is]}
      aria-pressed={is === "on"}
      aria-disabled={isFixed || undefined}
      onClick={() => (isFixed ? undefined : is === "on" ? turnOff() : void turnOn())}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 1.8a4 4 0 0 0-4 4v2.6L2.6 11h10.8L12 8.4V5.8a4 4 0 0 0-4-4z" fill={is === "on" ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.4" strokeLinejoin="round" />
        <path d="M6.3 13a1.8 1.8 0 0 0 3.4 0" fill="none" stroke="currentColor" strokeWidth="1.4" />
        {isFixed && <path d="M2 14 14 2" stroke="currentColor" strokeWidth="1.4" />}
      </svg>
    </button>
  );
}
