// Shows notices of the browser while the user looks elsewhere, and the number of open questions on the icon.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { questionsQuery } from "../../api/queries";
import { onRow } from "../../api/rows";
import type { RunRow, Status } from "../../api/types";
import { showBadge } from "./badge";
import { asked, ended, hasEnded, knownOf, type Notice } from "./notices";
import { permission } from "./permission";

/** Runs that end within this time share a notice. */
const TOGETHER_MS = 1_500;

export function useNotices(): void {
  const show = useShow();
  useQuestionNotices(show);
  useEndNotices(show);
}

type Show = (notices: Notice[]) => void;

function isLooking(): boolean {
  return !document.hidden && document.hasFocus();
}

function useShow(): Show {
  const navigate = useNavigate();
  const go = useRef(navigate);
  go.current = navigate;
  return useRef<Show>((notices) => {
    if (permission() !== "on" || isLooking()) return;
    for (const notice of notices) {
      const shown = new Notification(notice.title, { body: notice.body, tag: notice.tag, icon: "/icon.svg" });
      shown.onclick = () => {
        window.focus();
        shown.close();
        if (notice.run) void go.current({ to: "/runs/$run", params: { run: notice.run }, search: notice.step ? { step: notice.step } : {} });
        else void go.current({ to: "/approvals" });
      };
    }
  }).current;
}

function useQuestionNotices(show: Show): void {
  const questions = useQuery(questionsQuery).data?.questions;
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (!questions) return;
    showBadge(questions.length);
    show(asked(known.current, questions));
    known.current = knownOf(questions);
  }, [questions, show]);
}

function useEndNotices(show: Show): void {
  useEffect(() => {
    const since = Date.now();
    const statuses = new Map<string, Status>();
    let waiting: RunRow[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      show(ended(waiting));
      waiting = [];
      timer = undefined;
    };
    const leave = onRow((row) => {
      const isEnd = hasEnded(row, statuses.get(row.run), since);
      statuses.set(row.run, row.status);
      if (!isEnd) return;
      waiting.push(row);
      timer ??= setTimeout(tell, TOGETHER_MS);
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [show]);
}
