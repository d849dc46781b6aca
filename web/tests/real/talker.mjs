#!/usr/bin/env node
// A stand-in for Claude Code that says what a test writes into a folder: 1.txt, 2.txt, … each as it appears, and ends its
// turn after the one that is called last.txt. So a test decides when something is said, and nobody waits by the clock.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";

const args = process.argv.slice(2);
const event = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
if (args.includes("--version")) {
  console.log("2.1.325 (Claude Code)");
  process.exit(0);
}
const session_id = args.map((arg) => /^--(?:session-id|resume)=(.*)/.exec(arg)?.[1]).find(Boolean);
const usage = { input_tokens: 1200, output_tokens: 80 };
const say = (text) =>
  event({
    type: "assistant",
    session_id,
    parent_tool_use_id: null,
    message: { id: "m", model: "talker", content: [{ type: "text", text }], usage },
  });

/** The next text, once it is there. */
async function next(name) {
  const file = join(process.env.TALK, name);
  const last = join(process.env.TALK, "last.txt");
  for (;;) {
    if (existsSync(file)) return { text: readFileSync(file, "utf8"), last: false };
    if (existsSync(last)) return { text: readFileSync(last, "utf8"), last: true };
    await rest(20);
  }
}

event({ type: "system", subtype: "init", session_id, model: "talker", tools: [] });
for (let number = 1; ; number += 1) {
  const { text, last } = await next(`${number}.txt`);
  say(text);
  if (!last) continue;
  const used = { talker: { inputTokens: 1200, cacheReadInputTokens: 0, outputTokens: 80, costUSD: 0.02 } };
  event({
    type: "result",
    subtype: "success",
    is_error: false,
    session_id,
    stop_reason: "end_turn",
    terminal_reason: "completed",
    permission_denials: [],
    total_cost_usd: 0.02,
    modelUsage: used,
    model_usage_since_last_result: used,
    result: text,
  });
  break;
}
