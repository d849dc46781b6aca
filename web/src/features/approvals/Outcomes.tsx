// The results of the answers that were given on this page.

import { useQuery } from "@tanstack/react-query";
import { Note } from "../../ui/Note";
import { OUTCOMES, type Outcome } from "./outcomes";

export function Outcomes({ run }: { run?: string }) {
  const { data = [] } = useQuery<Outcome[]>({ queryKey: OUTCOMES, queryFn: () => [], staleTime: Infinity, enabled: false });
  const shown = data.filter((outcome) => run === undefined || outcome.run === run);
  return (
    <div role="status">
      {shown.map(({ run, path, tone, text }) => (
        <Note key={`${run} ${path}`} tone={tone}>
          <p>
            <strong>{path}</strong> {text}
          </p>
        </Note>
      ))}
    </div>
  );
}
