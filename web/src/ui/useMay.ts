// Whether the user may act. The server decides; this only hides actions that the server would refuse.

import { useQuery } from "@tanstack/react-query";
import { aboutQuery } from "../api/queries";

/** The message in place of an action that the user may not do. */
export const ONLY_LOOKS = "You can only look: the role of your token is viewer.";

export function useMay(): boolean {
  return useQuery(aboutQuery).data?.role !== "viewer";
}
