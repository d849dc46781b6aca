// Whether the one who looks may also act. The server decides; this only keeps pages from offering what it would refuse.

import { useQuery } from "@tanstack/react-query";
import { aboutQuery } from "../api/queries";

/** What is said in the place of what cannot be done. */
export const ONLY_LOOKS = "This sign-in may look, and nothing else: the role of its token is viewer.";

export function useMay(): boolean {
  return useQuery(aboutQuery).data?.role !== "viewer";
}
