// Which parts of a large picture are drawn, and which are folded into one node.
//
// A container is folded unless something happens in it. Steps that are done become one node, and so do steps that are far from
// being reached. What a person opened or closed stays that way.
//
// Invariant: folding makes no circle. Steps that are done include all steps before them, and steps that are far away all steps
// after them.

import type { Graph, GraphEdge, GraphNode, StepStatus } from "../../../api/types";
import type { NodeState } from "./nodes";

/** With fewer nodes, everything is drawn. */
export const ALL_MAX = 40;
/** How many steps after the current ones are drawn. */
const AHEAD = 2;
/** The fewest steps that become one node. */
const FOLD_MIN = 4;

const DONE: ReadonlySet<StepStatus> = new Set(["succeeded", "skipped", "cancelled"]);
const ACTIVE: ReadonlySet<StepStatus> = new Set(["running", "waiting", "failed"]);

export interface Grouping {
  /** What is drawn; folded parts are nodes of the kind `done` or `ahead`, and closed containers are plain nodes. */
  graph: Graph;
  /** The drawn node of each node. */
  shown: ReadonlyMap<string, string>;
  /** The nodes inside each folded one. */
  members: ReadonlyMap<string, readonly string[]>;
}

export interface Wishes {
  states: ReadonlyMap<string, NodeState> | undefined;
  /** Containers and folded parts that a person opened (true) or closed (false). */
  choices: ReadonlyMap<string, boolean>;
  selected: string | undefined;
  unreached: StepStatus;
}

export function isLarge(graph: Graph): boolean {
  return graph.nodes.length > ALL_MAX;
}

export function grouped(graph: Graph, wishes: Wishes): Grouping {
  const tree = new Tree(graph);
  const closed = closedContainers(tree, wishes);
  const shown = new Map<string, string>();
  const members = new Map<string, string[]>();
  for (const node of graph.nodes) {
    const into = tree.outermost(node.key, closed);
    shown.set(node.key, into);
    if (closed.has(into) && into !== node.key) put(members, into, node.key);
  }
  if (isLarge(graph)) for (const parent of tree.parents()) foldBody(tree, parent, wishes, shown, members);
  return { graph: contracted(graph, shown, members, closed), shown, members };
}

/** Containers that are drawn as one node. */
function closedContainers(tree: Tree, { states, choices, selected, unreached }: Wishes): ReadonlySet<string> {
  const large = isLarge(tree.graph);
  const busy = new Set<string>();
  for (const { key } of tree.graph.nodes) {
    const status = states?.get(key)?.status;
    if ((status && ACTIVE.has(status)) || key === selected) for (const outer of tree.around(key)) busy.add(outer);
  }
  const isOver = unreached === "skipped";
  const closed = tree.graph.nodes.filter(({ key, group, kind }) => {
    if (!group || kind === "branch" || kind === "unit") return false;
    return !(choices.get(key) ?? (!large || busy.has(key) || !states || (isOver && tree.graph.nodes.length < 2 * ALL_MAX)));
  });
  return new Set(closed.map(({ key }) => key));
}

/** Folds the steps of one container, or of the workflow. */
function foldBody(tree: Tree, parent: string, wishes: Wishes, shown: Map<string, string>, members: Map<string, string[]>): void {
  const { states, choices, selected, unreached } = wishes;
  const inner = tree.inside(parent).filter(({ key }) => shown.get(key) === key);
  const edges = tree.edges(parent);
  if (inner.length < FOLD_MIN + 1 || edges.some(({ kind }) => kind === "rewind" || kind === "goto")) return;
  const status = (node: GraphNode) => tree.statusOf(node, states, unreached);
  const isKept = (node: GraphNode) => node.key === selected || tree.holds(node.key, selected) || choices.get(node.key) === true;
  const done = closure(inner.filter((node) => DONE.has(status(node)) && !isKept(node)), edges, "from");
  const near = reached(inner.filter((node) => !DONE.has(status(node)) && status(node) !== "pending"), edges);
  const begun = near.size > 0;
  const away = inner.filter((node) => status(node) === "pending" && !near.has(node.key) && !isKept(node));
  const ahead = closure(begun ? away : [], edges, "to");
  for (const [kind, nodes] of [["done", done], ["ahead", ahead]] as const) {
    const key = `${parent}#${kind}`;
    // A picture of one node says nothing.
    if (nodes.length < FOLD_MIN || nodes.length === inner.length || choices.get(key) === true) continue;
    for (const node of nodes) {
      for (const below of [node.key, ...tree.below(node.key)]) shown.set(below, key);
      put(members, key, node.key);
    }
  }
}

/** The nodes whose neighbours on one side all belong to the set too, and theirs. */
function closure(nodes: GraphNode[], edges: GraphEdge[], side: "from" | "to"): GraphNode[] {
  const other = side === "from" ? "to" : "from";
  const left = new Set(nodes.map(({ key }) => key));
  const across = new Map<string, string[]>();
  for (const edge of edges) put(across, edge[side], edge[other]);
  const out = edges.filter((edge) => !left.has(edge[side])).map((edge) => edge[other]);
  for (let key = out.pop(); key !== undefined; key = out.pop()) if (left.delete(key)) out.push(...(across.get(key) ?? []));
  return nodes.filter(({ key }) => left.has(key));
}

/** The keys of nodes, and of those a few steps after them. */
function reached(nodes: GraphNode[], edges: GraphEdge[]): ReadonlySet<string> {
  const found = new Set(nodes.map(({ key }) => key));
  let front = found;
  for (let step = 0; step < AHEAD; step += 1) {
    front = new Set(edges.filter(({ from }) => front.has(from)).map(({ to }) => to));
    for (const key of front) found.add(key);
  }
  return found;
}

/** The graph with folded parts as nodes. */
function contracted(graph: Graph, shown: Map<string, string>, members: Map<string, string[]>, closed: ReadonlySet<string>): Graph {
  const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
  const nodes: GraphNode[] = [];
  for (const node of graph.nodes) {
    if (shown.get(node.key) === node.key) nodes.push(closed.has(node.key) ? { ...node, group: false } : node);
  }
  for (const [key, inside] of members) {
    const first = byKey.get(inside[0] ?? "");
    if (byKey.has(key) || !first) continue;
    const kind = key.endsWith("#done") ? "done" : "ahead";
    const title = kind === "done" ? `${inside.length} steps done` : `${inside.length} more steps`;
    const place = { ...(first.parent === undefined ? {} : { parent: first.parent }) };
    nodes.push({ key, id: key, title, kind, group: false, start: false, gate: false, optional: false, skippable: false, ...place });
  }
  const edges = new Map<string, GraphEdge>();
  for (const edge of graph.edges) {
    const [from, to] = [shown.get(edge.from) ?? edge.from, shown.get(edge.to) ?? edge.to];
    if (from === to) continue;
    const known = `${from} ${to} ${edge.kind}`;
    if (!edges.has(known)) edges.set(known, { ...edge, from, to });
  }
  return { ...graph, nodes, edges: [...edges.values()] };
}

/** What is inside what. */
class Tree {
  private readonly byKey: ReadonlyMap<string, GraphNode>;
  private readonly byParent = new Map<string, GraphNode[]>();
  private readonly byBody = new Map<string, GraphEdge[]>();

  constructor(readonly graph: Graph) {
    this.byKey = new Map(graph.nodes.map((node) => [node.key, node]));
    for (const node of graph.nodes) put(this.byParent, node.parent ?? "", node);
    for (const edge of graph.edges) put(this.byBody, this.byKey.get(edge.from)?.parent ?? "", edge);
  }

  parents(): string[] {
    return [...this.byParent.keys()];
  }

  inside(parent: string): GraphNode[] {
    return (this.byParent.get(parent) ?? []).filter(({ kind }) => kind !== "unit" && kind !== "branch");
  }

  edges(parent: string): GraphEdge[] {
    return this.byBody.get(parent) ?? [];
  }

  /** A node and the containers around it, from the inside. */
  *around(key: string): Generator<string> {
    for (let node = this.byKey.get(key); node; node = this.byKey.get(node.parent ?? "")) yield node.key;
  }

  outermost(key: string, closed: ReadonlySet<string>): string {
    return [...this.around(key)].findLast((outer) => closed.has(outer)) ?? key;
  }

  holds(outer: string, key: string | undefined): boolean {
    return key !== undefined && [...this.around(key)].includes(outer);
  }

  below(key: string): string[] {
    return (this.byParent.get(key) ?? []).flatMap((node) => [node.key, ...this.below(node.key)]);
  }

  /** The status of a node; of a container, also what happens in it. */
  statusOf(node: GraphNode, states: ReadonlyMap<string, NodeState> | undefined, unreached: StepStatus): StepStatus {
    const own = states?.get(node.key)?.status ?? unreached;
    if (!node.group || ACTIVE.has(own)) return own;
    return this.below(node.key).some((key) => states?.get(key)?.status === "failed") ? "failed" : own;
  }
}

function put<T>(into: Map<string, T[]>, key: string, value: T): void {
  const known = into.get(key);
  if (known) known.push(value);
  else into.set(key, [value]);
}
