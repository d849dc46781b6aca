// The results of the answers that were given on this page.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Note } from "../../ui/Note";
import { OUTCOMES, type Outcome } from "./outcomes";

export function useOutcomes(): Outcome[] {
  return useQuery<Outcome[]>({ queryKey: OUTCOMES, queryFn: () => [], staleTime: Infinity, enabled: false }).data ?? [];
}

/** `run`: the run that the page shows, if it shows one. */
export function Outcomes({ run: only }: { run?: string }) {
  const shown = useOutcomes().filter((outcome) => only === undefined || outcome.run === only);
  return (
    <div role="status">
      {shown.map(({ run, path, tone, text }) => (
        <Note key={`${run} ${path}`} tone={tone}>
          <p>
            <strong>{path}</strong> {text}{" "}
            {only === undefined && (
              <Link to="/runs/$run" params={{ run }} search={{}}>
                Open the run
              </Link>
            )}
          </p>
        </Note>
      ))}
    </div>
  );
}
