// Starts the page.

import "./ui/base.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { router } from "./router";
import { begin } from "./ui/theme";

/** Retries temporary failures while the page is visible; a wrong request is not retried. */
function again(count: number, error: Error): boolean {
  const status = error instanceof ApiError ? error.problem.status : 0;
  return (status === 0 || status >= 500) && count < 1_000;
}

const client = new QueryClient({ defaultOptions: { queries: { retry: again, retryDelay: 2_000, staleTime: 2_000 } } });

begin();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
