// Searches all transcripts and outputs of the run, also those that the page has not loaded.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { searchQuery } from "../../../api/queries";
import type { Found } from "../../../api/types";
import { count } from "../../../ui/format";
import { Empty, ErrorNote, Waiting } from "../../../ui/Note";
import styles from "../run.module.css";
import { useWatched } from "../state/useRun";
import { useView } from "../state/view";

export function Search() {
  const { run } = useWatched();
  const [typed, type] = useState("");
  const [text, search] = useState("");
  const { data, error, isFetching } = useQuery(searchQuery(run, text));
  return (
    <div className={styles.search}>
      <form
        className={styles.logBar}
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          search(typed.trim());
        }}
      >
        <input
          type="search"
          aria-label="Search what agents said and what steps printed"
          placeholder="Search what agents said and what steps printed, then press Enter"
          maxLength={200}
          value={typed}
          onChange={(event) => type(event.target.value)}
        />
        {data && text && <span className="quiet">{count(data.found.length, "place")}{data.more && " or more"}</span>}
      </form>
      {error && <ErrorNote error={error} />}
      {isFetching && !data && <Waiting what="what was found" />}
      {data && text && <Places found={data} />}
    </div>
  );
}

function Places({ found: { found, more, elsewhere } }: { found: Found }) {
  const { select } = useView();
  return (
    <>
      {elsewhere?.length ? <p className="quiet">Files on {elsewhere.join(", ")} were not searched.</p> : null}
      {found.length === 0 && (
        <Empty title="Not found">
          <p>No agent said it, and no step printed it. The log has a search of its own.</p>
        </Empty>
      )}
      <ul className={styles.found} aria-label="Found">
        {found.map(({ path, attempt, in: source, number, before, text, after }) => (
          <li key={`${path} ${attempt} ${source} ${number}`}>
            <button type="button" className={styles.place} onClick={() => select(path)}>
              <span className="quiet">
                {path}
                {attempt > 1 && `, attempt ${attempt}`}, {source === "transcript" ? "said or done" : `${source}, line ${number + 1}`}
              </span>
              <span>
                {before}
                <mark>{text}</mark>
                {after}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {more && <p className="quiet">There is more. Search for a longer text.</p>}
    </>
  );
}
