// Turns the entries of a transcript into blocks: joins pieces of a text, and puts a tool's answer beside its call.

import type { Entry, Json } from "../../../api/types";

export interface Spoken {
  kind: "text" | "thinking" | "notice";
  text: string;
}

export interface ToolUse {
  kind: "tool";
  id: string;
  name: string;
  summary: string;
  input?: Json;
  /** Whether it succeeded, once it has answered. */
  ok?: boolean;
  text?: string;
}

export type Block = Spoken | ToolUse;

export function blocks(entries: Entry[]): Block[] {
  const shown: Block[] = [];
  const calls = new Map<string, ToolUse>();
  for (const entry of entries) {
    switch (entry.type) {
      case "text":
        say(shown, entry.text, entry.delta ?? false);
        break;
      case "thinking":
      case "notice":
        shown.push({ kind: entry.type, text: entry.text });
        break;
      case "denied":
        shown.push({ kind: "notice", text: `was not allowed to use ${entry.name}` });
        break;
      case "background":
        if (entry.tasks.length) shown.push({ kind: "notice", text: `in the background: ${entry.tasks.join(", ")}` });
        break;
      case "tool_call": {
        const { id, name, summary, input } = entry;
        const call: ToolUse = { kind: "tool", id, name, summary, ...(input === undefined ? {} : { input }) };
        calls.set(id, call);
        shown.push(call);
        break;
      }
      case "tool_result": {
        const call = calls.get(entry.id);
        if (call) Object.assign(call, { ok: entry.ok, text: entry.text ?? "" });
        break;
      }
      // The remaining entries are not for people, or are shown elsewhere: sessions, costs, signs of life.
    }
  }
  return shown;
}

function say(shown: Block[], text: string, delta: boolean): void {
  const last = shown.at(-1);
  if (delta && last?.kind === "text") last.text += text;
  else shown.push({ kind: "text", text });
}
