// In place of a page that failed. The frame around it still works.

import { Button } from "./Button";
import { Note } from "./Note";

export function Broken({ error }: { error: unknown }) {
  return (
    <Note tone="bad" role="alert">
      <strong>This page cannot be shown.</strong>
      <p>Nothing was done to the run. Reload the page; the command line shows the same: longhaul runs, longhaul status.</p>
      <p className="quiet mono">{error instanceof Error ? error.message : String(error)}</p>
      <div>
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </div>
    </Note>
  );
}
