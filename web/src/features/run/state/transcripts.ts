// What agents say and do, as it comes and as it was kept.
//
// Invariant: the entries of an attempt are kept from its first on without a gap. A live entry that is not the next one is
// dropped; whoever shows the transcript reads on from the file.

import { address, get } from "../../../api/client";
import type { Entry, Live, Path, TranscriptPage } from "../../../api/types";

const PAGE = 500;

export class Transcripts {
  private readonly kept = new Map<string, Entry[]>();
  private readonly watched = new Map<string, { path: Path; attempt: number }>();
  private readonly reading = new Set<string>();

  constructor(
    private readonly run: string,
    private readonly changed: () => void,
  ) {}

  of(path: Path, attempt: number): Entry[] {
    return this.kept.get(key(path, attempt)) ?? [];
  }

  /** Keeps a transcript complete until the returned function is called. */
  watch(path: Path, attempt: number): () => void {
    this.watched.set(key(path, attempt), { path, attempt });
    void this.read(path, attempt);
    return () => void this.watched.delete(key(path, attempt));
  }

  arrive({ path, attempt, number, entry }: Live): void {
    const entries = this.of(path, attempt);
    if (number < entries.length) return;
    if (number === entries.length) {
      this.kept.set(key(path, attempt), [...entries, entry]);
      this.changed();
    } else if (this.watched.has(key(path, attempt))) {
      void this.read(path, attempt);
    }
  }

  /** After a break: what was said meanwhile is in the files. */
  catchUp(): void {
    for (const { path, attempt } of this.watched.values()) void this.read(path, attempt);
  }

  private async read(path: Path, attempt: number): Promise<void> {
    const id = key(path, attempt);
    if (this.reading.has(id)) return;
    this.reading.add(id);
    try {
      for (let more = true; more;) {
        const after = this.of(path, attempt).length;
        const page = await get<TranscriptPage>(address(`/runs/${this.run}/transcript`, { path, attempt, after, limit: PAGE }));
        // Live entries may have come while this was on its way.
        const known = this.of(path, attempt);
        this.kept.set(id, [...known, ...page.entries.slice(known.length - after)]);
        more = page.more && page.entries.length > 0;
        this.changed();
      }
    } catch {
      // The page says itself that the server cannot be reached, and reads on when it can.
    } finally {
      this.reading.delete(id);
    }
  }
}

function key(path: Path, attempt: number): string {
  return `${path}@${attempt}`;
}
