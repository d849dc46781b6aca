// Which node of the picture stands for a step of the run, and in which turns of its containers the step is.

import type { Graph, GraphNode, Path, StepStatus } from "../../../api/types";
import { type Segment, segments } from "../state/path";

/** A turn of a container: an item of a list, a round of a loop. */
export interface Turn {
  key: string;
  index: number;
}

export interface Place {
  key: string;
  turns: Turn[];
}

/** Which turn of each container is looked at; all of those that are not named. */
export type Turns = ReadonlyMap<string, number>;

export class Places {
  private readonly repeats: ReadonlySet<string>;
  private readonly byParent = new Map<string, GraphNode[]>();
  private readonly known = new Map<Path, Place | undefined>();

  constructor(private readonly graph: Graph) {
    this.repeats = new Set(graph.nodes.filter((node) => node.kind === "repeat").map((node) => node.key));
    for (const node of graph.nodes) {
      const parent = node.parent ?? (node.kind === "unit" ? "@" : "");
      this.byParent.set(parent, [...(this.byParent.get(parent) ?? []), node]);
    }
  }

  of(path: Path): Place | undefined {
    if (!this.known.has(path)) this.known.set(path, this.find(segments(path)));
    return this.known.get(path);
  }

  private find(all: Segment[]): Place | undefined {
    const turns: Turn[] = [];
    let group = "";
    let found: GraphNode | undefined;
    for (const segment of all) {
      found = this.inside(group).find((node) => node.id === segment.id && node.kind !== "branch");
      if (!found) return undefined;
      if (segment.index !== undefined && isLoop(found)) turns.push({ key: found.key, index: segment.index });
      group = this.body(found, segment.index ?? 0);
    }
    return found && { key: found.key, turns };
  }

  /** The rounds of loops that a step is in, and everything else that tells it apart from others of its node. */
  rounds({ key, turns }: Place): { of: string; order: number[] } {
    const [rounds, items] = [turns.filter((turn) => this.repeats.has(turn.key)), turns.filter((turn) => !this.repeats.has(turn.key))];
    return { of: [key, ...items.map(({ index }) => index)].join(" "), order: rounds.map(({ index }) => index) };
  }

  private inside(group: string): GraphNode[] {
    return this.byParent.get(group) ?? [];
  }

  /** Where the steps inside a node stand. */
  private body(node: GraphNode, index: number): string {
    const branches = this.inside(node.key).filter((inner) => inner.kind === "branch");
    if (branches.length) return branches[index]?.key ?? node.key;
    return (node.kind === "workflow" && this.unitOf(node)) || node.key;
  }

  /** The sub-workflow that a node calls. */
  unitOf(node: GraphNode): string | undefined {
    return this.inside("@").find((unit) => node.kind === "workflow" && unit.title === node.title)?.key;
  }

  node(key: string): GraphNode | undefined {
    return this.graph.nodes.find((node) => node.key === key);
  }
}

export function isLoop(node: GraphNode): boolean {
  return node.kind === "for_each" || node.kind === "repeat";
}

export function isShown(place: Place, turns: Turns): boolean {
  return place.turns.every(({ key, index }) => (turns.get(key) ?? index) === index);
}

/**
 * How a node stands: of all the steps it stands for, what matters most. Of a loop only the last round counts: it is there to fix
 * what the one before left.
 */
export interface NodeState {
  status: StepStatus;
  paths: Path[];
}

const WEIGHT: Record<StepStatus, number> = { running: 7, waiting: 6, failed: 5, succeeded: 4, cancelled: 3, pending: 2, skipped: 1 };

/** How the nodes stand, in the turns that are looked at. */
export function nodeStates(
  places: Places,
  steps: Iterable<{ path: Path; status: StepStatus; replaced?: boolean }>,
  turns: Turns,
): Map<string, NodeState> {
  const paths = new Map<string, Path[]>();
  const last = new Map<string, { key: string; order: number[]; status: StepStatus }>();
  for (const { path, status, replaced } of steps) {
    const place = places.of(path);
    if (!place || replaced || !isShown(place, turns)) continue;
    const known = paths.get(place.key);
    if (known) known.push(path);
    else paths.set(place.key, [path]);
    const { of, order } = places.rounds(place);
    if (!isLater(last.get(of)?.order, order)) last.set(of, { key: place.key, order, status });
  }
  const states = new Map<string, NodeState>();
  for (const { key, status } of last.values()) {
    const state = states.get(key);
    if (!state) states.set(key, { status, paths: paths.get(key) ?? [] });
    else if (WEIGHT[status] > WEIGHT[state.status]) state.status = status;
  }
  return states;
}

/** Whether one round is later than another: the outer loop decides. */
function isLater(one: number[] | undefined, other: number[]): boolean {
  const at = one?.findIndex((index, at) => index !== other[at]) ?? -1;
  return at >= 0 && (one?.[at] ?? 0) > (other[at] ?? 0);
}

/** How many turns each container has had. */
export function turnCounts(places: Places, paths: Iterable<Path>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    for (const { key, index } of places.of(path)?.turns ?? []) counts.set(key, Math.max(counts.get(key) ?? 0, index + 1));
  }
  return counts;
}
