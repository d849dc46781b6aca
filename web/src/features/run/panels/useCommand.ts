// Sends a command to a run. If the server cannot be reached, nobody knows whether the command arrived; the page says so, and when
// the server is back, it looks at the run and says whether it was done.

import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError, address, post } from "../../../api/client";
import type { Status } from "../../../api/types";
import { useWatched } from "../state/useRun";

export type Verb = "pause" | "unpause" | "stop" | "resume" | "retry" | "cancel";

interface Sent {
  verb: Verb;
  body?: object;
}

export interface Command {
  send: (sent: Sent) => void;
  isPending: boolean;
  /** The server refused it. */
  error: Error | undefined;
  /** The server could not be reached: what is known about the command. */
  news: { tone: "wait" | "none" | "bad"; text: string } | undefined;
}

/** The statuses after which a command was not applied. */
const NOT_YET: Record<Verb, readonly Status[]> = {
  pause: ["queued", "running", "waiting"],
  unpause: ["paused"],
  stop: ["queued", "running", "waiting", "paused"],
  resume: ["stopped"],
  retry: ["failed", "cancelled"],
  cancel: ["queued", "running", "waiting", "paused", "stopped"],
};

export function wasDone(verb: Verb, status: Status): boolean {
  return !NOT_YET[verb].includes(status);
}

const NAMES: Record<Verb, string> = { pause: "Pause", unpause: "Continue", stop: "Stop", resume: "Resume", retry: "Retry", cancel: "Cancel" };

function isLost(error: Error | null): boolean {
  return error instanceof ApiError && error.problem.status === 0;
}

export function useCommand(run: string): Command {
  const store = useWatched();
  const tell = useMutation({ mutationFn: ({ verb, body = {} }: Sent) => post(address(`/runs/${run}/${verb}`), body) });
  const [news, setNews] = useState<Command["news"]>();
  const unsure = useRef<Verb>(undefined);
  const { connection } = store;
  const verb = tell.variables?.verb;
  const lost = isLost(tell.error);
  useEffect(() => {
    if (!lost || !verb) return;
    unsure.current = verb;
    setNews({ tone: "wait", text: `The server could not be reached. It is not known whether “${NAMES[verb]}” was done.` });
  }, [lost, verb, tell.submittedAt]);
  useEffect(() => {
    const asked = unsure.current;
    if (connection !== "open" || !asked) return;
    void store.refresh().then(() => {
      const status = store.fold?.head.status;
      if (!status || unsure.current !== asked || store.connection !== "open") return;
      unsure.current = undefined;
      const done = wasDone(asked, status);
      setNews(
        done
          ? { tone: "none", text: `The server is back. “${NAMES[asked]}” was done: the run is ${status}.` }
          : { tone: "bad", text: `The server is back. “${NAMES[asked]}” was not done. Try again.` },
      );
    });
  }, [connection, store, news]);
  const send = (sent: Sent) => {
    unsure.current = undefined;
    setNews(undefined);
    tell.mutate(sent);
  };
  return { send, isPending: tell.isPending, error: tell.error && !lost ? tell.error : undefined, news };
}
