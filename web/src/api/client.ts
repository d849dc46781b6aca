// Requests to the server.

import type { Problem } from "./types";

const BASE = "/api/v1";

/** The server answered, and the answer is that it does not work. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.title);
  }
}

/** `/runs` and its query, with what is absent left out. */
export function address(path: string, query: Record<string, string | number | string[] | undefined> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) {
      if (one !== "") params.append(name, String(one));
    }
  }
  const text = params.toString();
  return `${BASE}${path}${text ? `?${text}` : ""}`;
}

export async function get<T>(url: string, signal?: AbortSignal): Promise<T> {
  return read<T>(await reach(url, { signal }));
}

/** What a file of a run says. */
export async function getText(url: string, signal?: AbortSignal): Promise<string> {
  const response = await reach(url, { signal });
  return response.ok ? response.text() : read<string>(response);
}

/** Asks for a change. With a key, asking twice changes once. */
export async function post<T>(url: string, body: unknown, key?: string): Promise<T> {
  const headers = { "Content-Type": "application/json", "X-Longhaul": "1", ...(key ? { "Idempotency-Key": key } : {}) };
  return read<T>(await reach(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    const detail = "It may be restarting. This page tries again by itself; if that lasts, look where `longhaul serve` runs.";
    throw new ApiError({ type: "about:blank", title: "The server cannot be reached.", status: 0, code: "", detail });
  }
}

async function read<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  const title = `The server answered ${response.status}.`;
  throw new ApiError(problem?.title ? problem : { type: "about:blank", title, status: response.status, code: "" });
}
