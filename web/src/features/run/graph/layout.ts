// Places the nodes of a folded picture: layers from top to bottom, wide layers in several rows.
//
// The server places the nodes of the whole picture. Which parts are folded changes while a run goes on, so pages place those
// pictures themselves.

import type { Area, Graph, GraphNode, Layout, Point } from "../../../api/types";

const STEP = { width: 190, height: 52 };
const GAP = { x: 22, y: 46 };
/** Between the rows of one layer. */
const ROW_GAP = 14;
const PADDING = { x: 16, top: 38, bottom: 16 };
/** A layer that is wider than this continues in the next row. */
const ROW_WIDTH = 4 * (STEP.width + GAP.x);

interface Box {
  width: number;
  height: number;
  /** The places of all nodes inside, relative to the box. */
  places: Map<string, Area>;
}

export function laidOut(graph: Graph, hidden: ReadonlySet<string>): Layout {
  const body = new Body(graph, hidden);
  const whole = body.of(undefined, (node) => node.kind !== "unit");
  let right = whole.width;
  for (const unit of graph.nodes.filter(({ kind, key }) => kind === "unit" && !hidden.has(key))) {
    const box = body.framed(unit);
    move(whole.places, box.places, right + 3 * GAP.x, 0);
    whole.places.set(unit.key, { x: right + 3 * GAP.x, y: 0, width: box.width, height: box.height });
    right += 3 * GAP.x + box.width;
    whole.height = Math.max(whole.height, box.height);
  }
  const nodes = graph.nodes.map(({ key }) => ({ key, ...(whole.places.get(key) ?? { x: 0, y: 0, ...STEP }) }));
  const edges = graph.edges.map(({ from, to }) => ({ from, to, points: way(whole.places.get(from), whole.places.get(to)) }));
  return { width: right, height: whole.height, nodes, edges };
}

class Body {
  private readonly byParent = new Map<string | undefined, GraphNode[]>();
  private readonly parents: ReadonlyMap<string, string | undefined>;

  constructor(
    private readonly graph: Graph,
    private readonly hidden: ReadonlySet<string>,
  ) {
    this.parents = new Map(graph.nodes.map(({ key, parent }) => [key, parent]));
    for (const node of graph.nodes) this.byParent.set(node.parent, [...(this.byParent.get(node.parent) ?? []), node]);
  }

  /** The nodes of a container, layer by layer. */
  of(parent: string | undefined, isMeant: (node: GraphNode) => boolean = () => true): Box {
    const nodes = (this.byParent.get(parent) ?? []).filter((node) => isMeant(node) && !this.hidden.has(node.key));
    const boxes = new Map(nodes.map((node) => [node.key, this.framed(node)]));
    const next = this.neighbours(parent, new Set(boxes.keys()));
    const rows = layers([...boxes.keys()], next).flatMap((layer) => wrapped(layer, boxes));
    return stacked(rows, boxes);
  }

  /** A node with what is inside it. */
  framed(node: GraphNode): Box {
    if (!node.group) return { ...STEP, places: new Map() };
    const inner = this.of(node.key);
    const places = new Map<string, Area>();
    move(places, inner.places, PADDING.x, PADDING.top);
    const width = Math.max(inner.width + 2 * PADDING.x, STEP.width + 40);
    return { width, height: inner.height + PADDING.top + PADDING.bottom, places };
  }

  /** The edges between the nodes of one container; edges from deeper inside count for the node that holds them. */
  private neighbours(parent: string | undefined, keys: ReadonlySet<string>): Map<string, Set<string>> {
    const next = new Map<string, Set<string>>();
    const lifted = (key: string) => {
      let at: string | undefined = key;
      while (at !== undefined && this.parents.get(at) !== parent) at = this.parents.get(at);
      return at;
    };
    for (const edge of this.graph.edges) {
      const [from, to] = [lifted(edge.from), lifted(edge.to)];
      if (!from || !to || from === to || !keys.has(from) || !keys.has(to) || edge.kind === "rewind") continue;
      next.set(from, (next.get(from) ?? new Set()).add(to));
    }
    return next;
  }
}

/** The layers of a graph: each node below all nodes before it. Edges that lead back do not count. */
export function layers(keys: string[], next: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = sorted(keys, next);
  const place = new Map(order.map((key, at) => [key, at]));
  const depth = new Map<string, number>();
  const before = new Map<string, string[]>();
  for (const key of order) {
    const own = depth.get(key) ?? 0;
    depth.set(key, own);
    for (const after of next.get(key) ?? []) {
      if ((place.get(after) ?? 0) <= (place.get(key) ?? 0)) continue;
      depth.set(after, Math.max(depth.get(after) ?? 0, own + 1));
      before.set(after, [...(before.get(after) ?? []), key]);
    }
  }
  const found: string[][] = [];
  for (const key of keys) (found[depth.get(key) ?? 0] ??= []).push(key);
  const columns = new Map<string, number>();
  return Array.from(found, (layer = []) => {
    const middle = (key: string, at: number) => {
      const above = before.get(key)?.map((one) => columns.get(one) ?? 0) ?? [];
      return above.length ? above.reduce((sum, one) => sum + one, 0) / above.length : at / Math.max(layer.length, 1);
    };
    const sorting = layer.map((key, at) => ({ key, at, by: middle(key, at) }));
    sorting.sort((a, b) => a.by - b.by || a.at - b.at);
    sorting.forEach(({ key }, at) => columns.set(key, at / Math.max(layer.length, 1)));
    return sorting.map(({ key }) => key);
  });
}

/** An order in which each node comes after those before it, as far as there is no circle. No recursion: a chain may be long. */
function sorted(keys: string[], next: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const seen = new Set<string>();
  const done: string[] = [];
  for (const first of keys) {
    const open = seen.has(first) ? [] : [{ key: first, left: [...(next.get(first) ?? [])] }];
    seen.add(first);
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const key = top.left.pop();
      if (key === undefined) {
        done.push(top.key);
        open.pop();
      } else if (!seen.has(key)) {
        seen.add(key);
        open.push({ key, left: [...(next.get(key) ?? [])] });
      }
    }
  }
  return done.reverse();
}

/** The rows of a layer. */
function wrapped(layer: string[], boxes: ReadonlyMap<string, Box>): { keys: string[]; isFirst: boolean }[] {
  const rows: { keys: string[]; isFirst: boolean }[] = [];
  let width = Infinity;
  for (const key of layer) {
    const own = (boxes.get(key)?.width ?? 0) + GAP.x;
    if (width + own > ROW_WIDTH) {
      rows.push({ keys: [], isFirst: rows.length === 0 });
      width = 0;
    }
    rows.at(-1)?.keys.push(key);
    width += own;
  }
  return rows;
}

function stacked(rows: { keys: string[]; isFirst: boolean }[], boxes: ReadonlyMap<string, Box>): Box {
  const sizes = rows.map(({ keys }) => keys.map((key) => boxes.get(key) as Box));
  const widths = sizes.map((row) => row.reduce((sum, { width }) => sum + width + GAP.x, -GAP.x));
  const width = Math.max(0, ...widths);
  const places = new Map<string, Area>();
  let y = 0;
  rows.forEach(({ keys, isFirst }, at) => {
    if (at > 0) y += isFirst ? GAP.y : ROW_GAP;
    let x = (width - (widths[at] ?? 0)) / 2;
    let height = 0;
    keys.forEach((key, place) => {
      const box = sizes[at]?.[place] as Box;
      places.set(key, { x, y, width: box.width, height: box.height });
      move(places, box.places, x, y);
      x += box.width + GAP.x;
      height = Math.max(height, box.height);
    });
    y += height;
  });
  return { width, height: y, places };
}

function move(into: Map<string, Area>, places: ReadonlyMap<string, Area>, x: number, y: number): void {
  for (const [key, area] of places) into.set(key, { ...area, x: area.x + x, y: area.y + y });
}

/** From the bottom of a node to the top of another; beside them if it leads back. */
function way(from: Area | undefined, to: Area | undefined): Point[] {
  if (!from || !to) return [];
  const start = { x: from.x + from.width / 2, y: from.y + from.height };
  const end = { x: to.x + to.width / 2, y: to.y };
  if (end.y > start.y) {
    const middle = end.y - Math.min((end.y - start.y) / 2, GAP.y / 2);
    return [start, { x: start.x, y: middle }, { x: end.x, y: middle }, end];
  }
  const side = Math.max(from.x + from.width, to.x + to.width) + GAP.x / 2;
  const [a, b] = [from.y + from.height / 2, to.y + to.height / 2];
  return [{ x: from.x + from.width, y: a }, { x: side, y: a }, { x: side, y: b }, { x: to.x + to.width, y: b }];
}
