// The workers, their work, and the steps that wait for a worker.

import { useQuery } from "@tanstack/react-query";
import { aboutQuery, workersQuery } from "../../api/queries";
import type { About } from "../../api/types";
import { Empty, ErrorNote, Waiting as Loading } from "../../ui/Note";
import { useNow } from "../../ui/useNow";
import { Title } from "../../ui/Title";
import { Duties } from "./Duties";
import { summed } from "./summed";
import { Waiting } from "./Waiting";
import { WorkerCard } from "./WorkerCard";
import styles from "./workers.module.css";

export function WorkersPage() {
  const { data, error, dataUpdatedAt } = useQuery(workersQuery);
  const about = useQuery(aboutQuery).data;
  // Times of workers use the clock of the store, not the clock of the browser.
  const now = (data?.now ?? 0) + Math.max(useNow(true) - dataUpdatedAt, 0);
  return (
    <section aria-labelledby="workers" className={styles.page}>
      <Title text="Workers" />
      <header className={styles.header}>
        <h1 id="workers">Workers</h1>
        {data && <p className="quiet">{summed(data)}</p>}
      </header>
      {error && <ErrorNote error={error} />}
      {!data && !error && <Loading what="the workers" />}
      {data && data.waiting.length > 0 && <Waiting waiting={data.waiting} />}
      {data?.workers.length === 0 && <Nobody about={about} />}
      {data && data.workers.length > 0 && (
        <ul className={styles.workers} aria-label="Workers">
          {data.workers.map((worker) => (
            <li key={worker.id}>
              <WorkerCard worker={worker} now={now} />
            </li>
          ))}
        </ul>
      )}
      {data && data.others.length > 0 && (
        <section className={styles.part} aria-label="Done by commands">
          <h2>Done by commands</h2>
          <p className="quiet">
            <code>longhaul run</code> and <code>longhaul resume</code> do the steps of their own run. They are not workers.
          </p>
          <Duties duties={data.others} />
        </section>
      )}
      {data && data.workers.length > 0 && <More about={about} />}
    </section>
  );
}

function Nobody({ about }: { about: About | undefined }) {
  return (
    <Empty title="No worker is running">
      <p>Runs wait until a worker runs them. In the folder of the project:</p>
      <pre className={styles.command}>longhaul worker</pre>
      {about?.drives === false && (
        <p>
          This server only shows runs, because it was started with <code>--no-drive</code>.
        </p>
      )}
    </Empty>
  );
}

/** How to add workers. */
function More({ about }: { about: About | undefined }) {
  const isShared = about?.store.startsWith("postgres");
  return (
    <p className={styles.more}>
      {about?.drives && "This server is one of them. "}
      To have one more, run <code>longhaul worker --labels gpu --slots 4</code>
      {isShared === true && " on any machine that reaches the database"}
      {isShared === false && " on this machine: the store is a file, and several machines can only share a PostgreSQL database"}. A step
      asks for labels with <code>runs_on</code>.
    </p>
  );
}
