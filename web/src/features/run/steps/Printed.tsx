// What an attempt printed: all of it, page by page, and more while it runs.

import { useEffect, useState } from "react";
import { address, get } from "../../../api/client";
import type { Attempt, Path, PrintedPage } from "../../../api/types";
import { ErrorNote, Waiting } from "../../../ui/Note";
import { TailBox } from "../../../ui/TailBox";
import { Text } from "../../../ui/Value";
import { useWatched } from "../state/useRun";

/** How often to look for more. */
const AGAIN_MS = 1_000;
/** A page draws no more than this; the start is cut. */
const SHOWN_MAX = 400_000;

interface Read {
  text: string;
  next: number;
  cut: boolean;
}

export function Printed({ path, attempt, stream }: { path: Path; attempt: Attempt; stream: "stdout" | "stderr" }) {
  const { run } = useWatched();
  const going = attempt.status === "running";
  const { read, error } = useRead(run, path, attempt.attempt, stream, going);
  if (error) return <ErrorNote error={error} />;
  if (!read) return <Waiting what="the output" />;
  return (
    <>
      {read.cut && (
        <p className="quiet">
          Only the end is shown. All of it: <code>{`longhaul logs ${run} ${path}`}</code>
        </p>
      )}
      <TailBox grown={read.next} going={going} label={stream}>
        <Text text={read.text} />
      </TailBox>
    </>
  );
}

function useRead(run: string, path: Path, attempt: number, stream: string, going: boolean): { read?: Read; error?: Error } {
  const [read, set] = useState<Read>();
  const [error, fail] = useState<Error>();
  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let known = read;
    const more = async () => {
      try {
        const page = await get<PrintedPage>(address(`/runs/${run}/printed`, { path, attempt, stream, after: known?.next ?? 0 }));
        if (over) return;
        known = joined(known, page);
        set(known);
        fail(undefined);
        if (page.more) void more();
        else if (going) timer = setTimeout(more, AGAIN_MS);
      } catch (error) {
        if (over) return;
        fail(error as Error);
        timer = setTimeout(more, AGAIN_MS);
      }
    };
    void more();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [run, path, attempt, stream, going]);
  return { ...(read ? { read } : {}), ...(error && !read ? { error } : {}) };
}

export function joined(known: Read | undefined, page: PrintedPage): Read {
  const text = `${known?.text ?? ""}${page.text}`;
  const cut = text.length > SHOWN_MAX;
  return { text: cut ? text.slice(-SHOWN_MAX) : text, next: page.next, cut: cut || (known?.cut ?? false) };
}
