// One attempt: the prompt, the transcript, the output of a command, the usage.

import type { Attempt, Path } from "../../../api/types";
import { Fold } from "../../../ui/Fold";
import { by, cost, duration, tokens } from "../../../ui/format";
import { Text } from "../../../ui/Value";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";
import { Printed } from "./Printed";
import styles from "./steps.module.css";
import { Transcript } from "./Transcript";

interface Props {
  path: Path;
  kind: string;
  attempt: Attempt;
  isLast?: boolean;
}

export function AttemptView({ path, kind, attempt, isLast = false }: Props) {
  const { transcripts } = useWatched();
  const { prompt, has } = attempt;
  const talks = has.includes("transcript") || transcripts.of(path, attempt.attempt).length > 0;
  return (
    <section className={styles.attempt} aria-label={`Attempt ${attempt.attempt}`}>
      <Facts attempt={attempt} />
      {LEAVES_FILES.has(kind) && <Elsewhere path={path} attempt={attempt} />}
      {!isLast && attempt.error && <p className={styles.error}>{attempt.error.message}</p>}
      {prompt && <Fold title="Prompt">{() => <Text text={prompt} />}</Fold>}
      {talks &&
        (isLast ? (
          <Transcript path={path} attempt={attempt.attempt} going={attempt.status === "running"} />
        ) : (
          <Fold title="What it said and did">{() => <Transcript path={path} attempt={attempt.attempt} />}</Fold>
        ))}
      {(["stdout", "stderr"] as const)
        .filter((stream) => has.includes(stream))
        .map((stream) => (
          <Fold
            key={stream}
            title={stream === "stdout" ? "Raw output" : "Raw errors"}
            open={isLast && (stream === "stderr" ? attempt.status === "failed" : attempt.status === "running" && !talks)}
          >
            {() => <Printed path={path} attempt={attempt} stream={stream} />}
          </Fold>
        ))}
    </section>
  );
}

function Facts({ attempt }: { attempt: Attempt }) {
  const { now } = useView();
  const { skew } = useWatched();
  const { agent, session, usage, rung, exit_code, cached } = attempt;
  const facts = [
    attempt.status === "waiting" ? `attempt ${attempt.attempt} waits for a worker` : `attempt ${attempt.attempt} ${attempt.status}`,
    duration((attempt.ended_at ?? now + skew) - attempt.started_at),
    agent,
    (attempt.worker || attempt.host) && `by ${by(attempt)}`,
    session && `session ${session}`,
    usage && usage.input_tokens + usage.output_tokens > 0 && `${tokens(usage)} tokens`,
    usage && usage.usd > 0 && cost(usage),
    exit_code !== undefined && `exit code ${exit_code}`,
    cached && "cached from an earlier run",
    rung,
  ];
  return (
    <p className={styles.facts}>
      {facts.filter(Boolean).map((fact) => (
        <span key={String(fact)}>{fact}</span>
      ))}
    </p>
  );
}

/** Kinds of steps with output or a transcript. */
const LEAVES_FILES: ReadonlySet<string> = new Set(["run", "prompt", "tool"]);

/** The output of an attempt stays on its machine; without this note it would look as if there were none. */
function Elsewhere({ path, attempt: { host, has, prompt, status } }: { path: Path; attempt: Attempt }) {
  const { run } = useWatched();
  if (!host || has.length > 0 || prompt || status === "waiting") return null;
  return (
    <p className="quiet">
      What it said and printed is on {host}. There: <code>{`longhaul logs ${run} ${path}`}</code>
    </p>
  );
}
