// What an agent says and does, live.

import { useEffect, useMemo } from "react";
import type { Path } from "../../../api/types";
import { Fold } from "../../../ui/Fold";
import { TailBox } from "../../../ui/TailBox";
import { Markdown } from "../../../ui/markdown/Markdown";
import { inJson, Text } from "../../../ui/Value";
import { useWatched } from "../state/useRun";
import { type Block, blocks, type ToolUse } from "./blocks";
import styles from "./steps.module.css";

export function Transcript({ path, attempt, going = false }: { path: Path; attempt: number; going?: boolean }) {
  const { transcripts } = useWatched();
  useEffect(() => transcripts.watch(path, attempt), [transcripts, path, attempt]);
  const entries = transcripts.of(path, attempt);
  const shown = useMemo(() => blocks(entries), [entries]);
  if (shown.length === 0) return null;
  // A long transcript has a box of its own; a page of 40,000 pixels helps nobody.
  return (
    <TailBox grown={entries.length} going={going} label="Transcript">
      <ol className={styles.transcript} aria-label="What it said and did">
        {shown.map((block, at) => (
          <li key={at} className={styles.block}>
            <Said block={block} />
          </li>
        ))}
      </ol>
    </TailBox>
  );
}

function Said({ block }: { block: Block }) {
  switch (block.kind) {
    case "text":
      return (
        <div className={styles.said}>
          <Markdown text={block.text} />
        </div>
      );
    case "notice":
      return <p className={styles.notice}>{block.text}</p>;
    case "thinking":
      return <Fold title="Thought">{() => <p className={styles.thought}>{block.text}</p>}</Fold>;
    case "tool":
      return <Tool use={block} />;
  }
}

function Tool({ use: { name, summary, input, ok, text } }: { use: ToolUse }) {
  const [sign, words] = ok === undefined ? ["…", "running"] : ok ? ["✓", "succeeded"] : ["✗", "failed"];
  const title = (
    <>
      <span className={styles.tool} data-ok={ok}>
        {sign} {name}
      </span>{" "}
      <code>{summary}</code>
      <span className="unseen">, {words}</span>
    </>
  );
  return (
    <Fold title={title}>
      {() => (
        <>
          {input !== undefined && <Text text={inJson(input)} />}
          {text && <Text text={text} />}
        </>
      )}
    </Fold>
  );
}
