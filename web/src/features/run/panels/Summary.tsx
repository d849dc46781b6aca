// How it ended: the reason, the outputs and the cost; then the inputs and the critical path.

import type { Cost, Json, Path } from "../../../api/types";
import { Fold } from "../../../ui/Fold";
import { cost, count, duration, tokens } from "../../../ui/format";
import { Scroll, Value } from "../../../ui/Value";
import { Words } from "../../../ui/Words";
import ui from "../../../ui/ui.module.css";
import styles from "../run.module.css";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";

export function Summary() {
  const { fold } = useWatched();
  if (!fold) return null;
  const { head } = fold;
  return (
    <div className={styles.summary}>
      {head.message && (
        <section className={styles.part} aria-label="Reason">
          <h2>{head.status === "failed" ? "Why it failed" : "How it ended"}</h2>
          <p>
            <Words text={head.message} />
          </p>
        </section>
      )}
      <Values
        title="Outputs"
        values={head.outputs ?? {}}
        none={head.ended_at === undefined ? "It is not over yet." : "It returned nothing."}
      />
      <Spent spent={head.cost} />
      <Values title="Inputs" values={head.inputs} none="It has no inputs beside its task." />
      <CriticalPath paths={head.critical_path} />
    </div>
  );
}

function CriticalPath({ paths }: { paths: Path[] }) {
  const { fold } = useWatched();
  const { select } = useView();
  if (paths.length === 0) return null;
  return (
    <section className={styles.part} aria-label="Critical path">
      <Fold title={`Critical path: ${count(paths.length, "step")}`}>
        {() => (
          <>
            <p className="quiet">The run had to wait for these steps. Making another step faster does not help.</p>
            <ol className={styles.critical}>
              {paths.map((path) => (
                <li key={path}>
                  <button type="button" className={styles.link} onClick={() => select(path)}>
                    {path}
                  </button>{" "}
                  <span className="quiet numbers">{duration(fold?.steps.get(path)?.duration_ms ?? 0)}</span>
                </li>
              ))}
            </ol>
          </>
        )}
      </Fold>
    </section>
  );
}

function Values({ title, values, none }: { title: string; values: Record<string, Json>; none: string }) {
  return (
    <section className={styles.part} aria-label={title}>
      <h2>{title}</h2>
      {Object.keys(values).length ? <Value value={values} /> : <p className="quiet">{none}</p>}
    </section>
  );
}

function Spent({ spent }: { spent: Cost }) {
  const rows = [
    ...Object.entries(spent.agents).map(([name, usage]) => ({ name, usage, is: "agent" })),
    ...spent.steps.map(({ path, usage }) => ({ name: path, usage, is: "step" })),
  ];
  return (
    <section className={styles.part} aria-label="Cost">
      <h2>Cost</h2>
      {rows.length === 0 ? (
        <p className="quiet">No agent has used anything yet.</p>
      ) : (
        <Scroll>
          <table className={ui.table}>
            <thead>
              <tr>
                <th scope="col">who</th>
                <th scope="col">is</th>
                <th scope="col">cost</th>
                <th scope="col">tokens</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, usage, is }) => (
                <tr key={`${is} ${name}`}>
                  <td>{name}</td>
                  <td className="quiet">{is}</td>
                  <td className="numbers">{cost(usage)}</td>
                  <td className="numbers">{tokens(usage)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
