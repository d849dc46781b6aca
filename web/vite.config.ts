import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The pages are served below a strict policy: nothing inline, nothing from elsewhere.
export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    sourcemap: false,
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:4700", "/login": "http://127.0.0.1:4700" },
  },
});
