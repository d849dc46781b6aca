// Light or dark: as the system says, until a person says otherwise.

import { useEffect, useState } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "longhaul-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function show(theme: Theme): void {
  const isDark = theme === "dark" || (theme === "system" && dark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

/** Before anything is drawn. */
export function begin(): void {
  show(stored());
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, set] = useState(stored);
  useEffect(() => {
    show(theme);
    localStorage.setItem(KEY, theme);
    const follow = () => show(theme);
    dark.addEventListener("change", follow);
    return () => dark.removeEventListener("change", follow);
  }, [theme]);
  return [theme, set];
}
