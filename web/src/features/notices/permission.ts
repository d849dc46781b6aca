// Whether this browser shows notices: the user's choice, and the browser's permission.

import { useSyncExternalStore } from "react";

const KEY = "longhaul-notices";

/** `unavailable`: the browser has no notices at this address. They need localhost or HTTPS. */
export type Permission = "on" | "off" | "blocked" | "unavailable";

const listeners = new Set<() => void>();

export function permission(): Permission {
  if (typeof Notification === "undefined" || !window.isSecureContext) return "unavailable";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
}

function changed(): void {
  for (const listener of listeners) listener();
}

/** Asks for permission. Browsers allow that only after a click. */
export async function turnOn(): Promise<void> {
  const granted = (await Notification.requestPermission()) === "granted";
  localStorage.setItem(KEY, granted ? "on" : "off");
  changed();
}

export function turnOff(): void {
  localStorage.setItem(KEY, "off");
  changed();
}

function follow(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab may have changed it.
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

export function usePermission(): Permission {
  return useSyncExternalStore(follow, permission);
}
