// Signs in with a token that the user pastes.

import { type FormEvent, useEffect, useState } from "react";
import { Button } from "./Button";
import styles from "./ui.module.css";

const WRONG = "This token is not valid. It is mistyped, revoked or expired.";

const TOO_MANY = "There were too many attempts. Wait a minute, then try again.";

/** Why the server showed this page instead of signing in with the token in the address. */
function refusal(): string {
  const [page] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return page?.responseStatus === 429 ? TOO_MANY : WRONG;
}

/** The token in what was pasted: the token itself, or the address that contains it. */
export function tokenIn(text: string): string {
  const [, token] = /[?&]token=([^&#\s]+)/.exec(text) ?? [];
  return (token ?? text).trim();
}

/** Why a token was refused; nothing if it was accepted. */
async function signIn(token: string): Promise<string | undefined> {
  try {
    const headers = { Accept: "application/problem+json" };
    const response = await fetch(`/login?token=${encodeURIComponent(token)}`, { redirect: "manual", credentials: "same-origin", headers });
    if (response.type === "opaqueredirect" || response.ok) return undefined;
    if (response.status === 401) return WRONG;
    const problem = (await response.json().catch(() => ({}))) as { title?: string; detail?: string };
    return [problem.title ?? `The server answered ${response.status}.`, problem.detail].filter(Boolean).join(" ");
  } catch {
    return "The server cannot be reached. Try again.";
  }
}

export function SignIn() {
  // The server shows this page at /login if a token in the address was wrong.
  const isLogin = window.location.pathname === "/login";
  const [wrong, complain] = useState(isLogin && window.location.search ? refusal : undefined);
  const [token, type] = useState("");
  const [busy, wait] = useState(false);
  useEffect(() => {
    // A token does not stay in the address and its history.
    if (isLogin && window.location.search) window.history.replaceState(window.history.state, "", "/login");
  }, [isLogin]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (tokenIn(token) === "") return complain("Paste a token first.");
    wait(true);
    const problem = await signIn(tokenIn(token));
    wait(false);
    complain(problem);
    if (problem === undefined) window.location.assign(isLogin ? "/" : window.location.href);
  };
  return (
    <form className={styles.signIn} noValidate onSubmit={(event) => void submit(event)} aria-labelledby="sign-in">
      <title>Sign in · Longhaul</title>
      <h1 id="sign-in">You are not signed in</h1>
      <div className={styles.field}>
        <label className={styles.label} htmlFor="token">
          Token
        </label>
        <input
          id="token"
          className={styles.input}
          type="password"
          autoComplete="current-password"
          value={token}
          aria-invalid={wrong ? true : undefined}
          aria-describedby="token-about"
          onChange={(event) => type(event.target.value)}
        />
        <span id="token-about" className={styles.hint}>
          {wrong && (
            <span className={styles.wrong} role="alert">
              {wrong}{" "}
            </span>
          )}
          Paste a token, or the address that the server printed. It starts with <code>lh_</code>.
        </span>
      </div>
      <div className={styles.actions}>
        <Button type="submit" look="main" disabled={busy}>
          Sign in
        </Button>
      </div>
      <p className="quiet">
        No token? Run <code>longhaul ui</code> on the machine of the server: it opens this page signed in. For another person:{" "}
        <code>longhaul serve token --user NAME</code>.
      </p>
    </form>
  );
}
