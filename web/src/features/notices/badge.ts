// The number of open questions on the icon of the tab, and of the installed page.

/** The icon with a number. */
export function badged(open: number): string {
  const number = open > 9 ? "9+" : String(open);
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#17645c"/><circle cx="20" cy="12" r="12" fill="#b3261e"/><text x="20" y="18" font-family="sans-serif" font-size="${open > 9 ? 14 : 18}" font-weight="700" text-anchor="middle" fill="#fff">${number}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(picture)}`;
}

export function showBadge(open: number): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  link?.setAttribute("href", open > 0 ? badged(open) : "/icon.svg");
  // Only some browsers have it, and only for installed pages.
  const app = navigator as Navigator & { setAppBadge?: (n: number) => Promise<void> };
  app.setAppBadge?.(open).catch(() => undefined);
}
