// Records attempts, questions and waits as spans of time.

import type { Path, Span, Spanned } from "../../../api/types";

/** The worker and the machine of an attempt. */
export type Maker = Pick<Span, "worker" | "host">;

export class Spans {
  readonly all: Span[];
  /** The spans of each step, by index. */
  private readonly places = new Map<Path, number[]>();
  private readonly open = new Map<Path, number>();

  constructor(known: Span[]) {
    this.all = [...known];
    known.forEach((span, at) => {
      this.note(span.path, at);
      if (span.to === undefined) this.open.set(span.path, at);
    });
  }

  of(path: Path): Span[] {
    return (this.places.get(path) ?? []).map((at) => this.all[at] as Span);
  }

  /** The worker of the last attempt of a step, if there could be several. */
  maker(path: Path): Maker | undefined {
    return this.of(path).findLast(({ worker, host }) => worker || host);
  }

  begin(path: Path, what: Spanned, from: number, by: Maker = {}): void {
    this.end(path, from, "over");
    this.open.set(path, this.all.length);
    this.note(path, this.all.length);
    this.all.push({ path, what, from, ...by });
  }

  end(path: Path, to: number, end: string): void {
    const at = this.open.get(path);
    const span = at === undefined ? undefined : this.all[at];
    if (at === undefined || !span) return;
    this.open.delete(path);
    this.all[at] = { ...span, to, end };
  }

  giveUp(at: number, which: (path: Path) => boolean): void {
    for (const path of [...this.open.keys()].filter(which)) this.end(path, at, "given up");
  }

  private note(path: Path, at: number): void {
    const places = this.places.get(path);
    if (places) places.push(at);
    else this.places.set(path, [at]);
  }
}
