import { defineConfig } from "vitest/config";

// No test: takes pictures of every page of the binary, to be looked at. See scripts/page-pictures.
export default defineConfig({ test: { include: ["tests/real/pictures.ts"], testTimeout: 300_000, hookTimeout: 60_000 } });
