// Everything about a step: its prompt or command, its attempts, its result, and how to run it again.

import { useQuery } from "@tanstack/react-query";
import { attemptsQuery, outputQuery } from "../../../api/queries";
import type { Json, Path } from "../../../api/types";
import { Fold } from "../../../ui/Fold";
import { ErrorNote } from "../../../ui/Note";
import { Words } from "../../../ui/Words";
import { inJson, Text, Value } from "../../../ui/Value";
import type { FlatStep } from "../state/fold";
import { useWatched } from "../state/useRun";
import { AttemptView } from "./AttemptView";
import { FromHere } from "./FromHere";
import { TellAgent } from "./TellAgent";
import styles from "./steps.module.css";

/** How often running attempts are read again; transcripts come by the stream. */
const AGAIN_MS = 2_000;
const CUT = /… \(\d+ characters\)$/;

export function StepDetails({ step, kind }: { step: FlatStep; kind: string }) {
  const { run } = useWatched();
  const going = step.status === "running" && AGAIN_MS;
  const { data, error } = useQuery({
    ...attemptsQuery(run, step.path, `${step.attempts} ${step.status}`),
    enabled: step.attempts > 0,
    refetchInterval: going,
  });
  const attempts = data?.attempts ?? [];
  const last = attempts.at(-1);
  return (
    <div className={styles.details}>
      <p className="quiet mono">
        {step.path}
        {step.rung ? <span> · {step.rung}</span> : ""}
      </p>
      {step.error && (
        <p className={styles.error}>
          <strong>{step.error.class}</strong>: <Words text={step.error.message} />
        </p>
      )}
      {error && <ErrorNote error={error} />}
      {last && <AttemptView path={step.path} kind={kind} attempt={last} isLast />}
      {step.output !== undefined && step.output !== null && (
        <Output path={step.path} output={step.output} defaulted={step.defaulted ?? false} answered={kind === "prompt"} />
      )}
      {attempts.length > 1 && (
        <Fold title={`Earlier attempts (${attempts.length - 1})`}>
          {() =>
            attempts
              .slice(0, -1)
              .reverse()
              .map((attempt) => <AttemptView key={attempt.attempt} path={step.path} kind={kind} attempt={attempt} />)
          }
        </Fold>
      )}
      {kind === "prompt" && <TellAgent step={step} />}
      <FromHere path={step.path} />
    </div>
  );
}

interface OutputProps {
  path: Path;
  output: Json;
  defaulted: boolean;
  /** Whether the value is the answer of an agent, which its transcript shows too. */
  answered: boolean;
}

function Output({ path, output, defaulted, answered }: OutputProps) {
  const isCut = typeof output === "string" && CUT.test(output);
  return (
    <section aria-label="Result">
      <h2>{defaulted ? "Result (the default)" : answered ? "Answer" : "Result"}</h2>
      <Value value={output} />
      {isCut ? (
        <Fold title="Whole result">{() => <Whole path={path} />}</Fold>
      ) : (
        typeof output !== "string" && <Fold title="As JSON">{() => <Text text={inJson(output)} />}</Fold>
      )}
    </section>
  );
}

function Whole({ path }: { path: Path }) {
  const { run } = useWatched();
  const { data, error } = useQuery(outputQuery(run, path));
  if (error) return <ErrorNote error={error} />;
  return data ? <Value value={data.output} /> : null;
}
