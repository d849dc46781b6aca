// The title of the page, with the number of open questions: it is read in the list of tabs.

import { useQuery } from "@tanstack/react-query";
import { questionsQuery } from "../api/queries";

export function Title({ text }: { text: string }) {
  const open = useQuery(questionsQuery).data?.questions.length ?? 0;
  return <title>{`${open ? `(${open}) ` : ""}${text} · Longhaul`}</title>;
}
