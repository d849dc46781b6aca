// Chooses light or dark: the system's choice, until the user chooses.

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

/** Applies the theme before the first drawing. */
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
