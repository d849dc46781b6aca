// How many runs the filter finds, how they ended, and what they cost: all of them, not only those that are loaded.

import { useQuery } from "@tanstack/react-query";
import { type RunsFilter, totalsQuery } from "../../api/queries";
import { count, money, short } from "../../ui/format";
import { STATUSES } from "./filter";
import styles from "./runs.module.css";

export function Totals({ filter }: { filter: RunsFilter }) {
  const { data } = useQuery(totalsQuery(filter));
  if (!data) return <p className={styles.totals}>…</p>;
  const { runs, statuses, usd, tokens } = data;
  const by = STATUSES.flatMap((status) => (statuses[status] ? [`${statuses[status].toLocaleString("en")} ${status}`] : []));
  return (
    <p className={styles.totals} aria-label="Totals">
      <strong>{count(runs, "run")}</strong>
      <span>{by.join(", ")}</span>
      <span>{money(usd)}</span>
      {tokens > 0 && <span>{short(tokens)} tokens</span>}
    </p>
  );
}
