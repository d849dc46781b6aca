import { defineConfig } from "vitest/config";

// The binary is built before. One file after the other: each has servers and a browser of its own.
export default defineConfig({
  test: { include: ["tests/real/**/*.real.ts"], testTimeout: 60_000, hookTimeout: 120_000, fileParallelism: false },
});
