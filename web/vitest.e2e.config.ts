import { defineConfig } from "vitest/config";

// One file after the other: each has a server and a browser of its own.
export default defineConfig({
  test: { include: ["tests/**/*.e2e.ts"], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
});
