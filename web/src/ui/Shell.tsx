// The frame around every page.

import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { ApiError, address, post } from "../api/client";
import { aboutQuery, questionsQuery } from "../api/queries";
import { useFeed } from "../api/useFeed";
import { NoticeButton } from "../features/notices/NoticeButton";
import { useNotices } from "../features/notices/useNotices";
import { SignIn } from "./SignIn";
import styles from "./shell.module.css";
import { type Theme, useTheme } from "./theme";

const PAGES = [
  { to: "/runs", title: "Runs" },
  { to: "/workflows", title: "Workflows" },
  { to: "/approvals", title: "Approvals" },
  { to: "/workers", title: "Workers" },
] as const;

export function Shell() {
  const connection = useFeed();
  useNotices();
  const { data, error } = useQuery(questionsQuery);
  const open = data?.questions.length ?? 0;
  // A stream does not say why it was refused. A user who is not signed in must see that, and not that the server is gone.
  const isStranger = error instanceof ApiError && error.problem.status === 401;
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <Link to="/runs" className={styles.brand}>
          Longhaul
        </Link>
        <nav aria-label="Pages" className={styles.nav}>
          {PAGES.map(({ to, title }) => (
            <Link
              key={to}
              to={to}
              className={styles.link}
              activeProps={{ "data-active": true, "aria-current": "page" }}
              {...(to === "/approvals" && open > 0 ? { "aria-label": `${title}, ${open} open` } : {})}
            >
              {title}
              {to === "/approvals" && open > 0 && (
                <span className={styles.badge} aria-hidden="true">
                  {open}
                </span>
              )}
            </Link>
          ))}
        </nav>
        <SignedIn />
        <NoticeButton />
        <ThemePicker />
      </header>
      {connection === "lost" && !isStranger && (
        <p className={styles.lost} role="status">
          The server cannot be reached. What is shown may be old; this page continues by itself.
        </p>
      )}
      <main id="main" className={styles.main} tabIndex={-1}>
        {isStranger ? <SignIn /> : <Outlet />}
      </main>
    </>
  );
}

/** The signed-in user: actions here are recorded as theirs. */
function SignedIn() {
  const about = useQuery(aboutQuery).data;
  const signOut = useMutation({ mutationFn: () => post(address("/logout"), {}), onSuccess: () => window.location.reload() });
  if (!about?.user) return null;
  const name = about.shared ? `${about.user} (shared token)` : about.user;
  return (
    <div className={styles.who}>
      <span className={styles.name} title={`Signed in as ${name}${about.role ? `, ${about.role}` : ""}`}>
        <span className={styles.hidden}>Signed in as </span>
        {name}
      </span>
      <button type="button" className={styles.out} disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </button>
    </div>
  );
}

const NEXT: Record<Theme, Theme> = { system: "dark", dark: "light", light: "system" };

function ThemePicker() {
  const [theme, set] = useTheme();
  const words = { system: "as the system", dark: "dark", light: "light" }[theme];
  return (
    <button
      type="button"
      className={styles.theme}
      onClick={() => set(NEXT[theme])}
      aria-label={`Colours: ${words}`}
      title={`Colours: ${words}`}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.6" />
        {theme !== "light" && (
          <path d={theme === "dark" ? "M8 2a6 6 0 0 1 0 12z M8 2a6 6 0 0 0 0 12z" : "M8 2a6 6 0 0 1 0 12z"} fill="currentColor" />
        )}
      </svg>
    </button>
  );
}
