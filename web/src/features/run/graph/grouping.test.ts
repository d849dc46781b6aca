import { describe, expect, it } from "vitest";
import type { Graph, GraphNode, StepStatus } from "../../../api/types";
import { grouped, type Wishes } from "./grouping";
import { laidOut, layers } from "./layout";

const node = (key: string, more: Partial<GraphNode> = {}): GraphNode => ({
  key, id: key, title: key, kind: "run", group: false, start: false, gate: false, optional: false, skippable: false, ...more,
});

/** Lanes beside each other, each with its steps one after the other. */
function lanes(width: number, length: number): Graph {
  const key = (lane: number, at: number) => `s${lane}-${at}`;
  const nodes = Array.from({ length }, (_, at) => Array.from({ length: width }, (_, lane) => node(key(lane, at)))).flat();
  const edges = Array.from({ length: length - 1 }, (_, at) =>
    Array.from({ length: width }, (_, lane) => ({ from: key(lane, at), to: key(lane, at + 1), kind: "dependency" as const })),
  ).flat();
  return { title: "lanes", nodes, edges };
}

const states = (of: Record<string, StepStatus>) => new Map(Object.entries(of).map(([key, status]) => [key, { status, paths: [key] }]));
const wishes = (more: Partial<Wishes> = {}): Wishes => ({ states: new Map(), choices: new Map(), selected: undefined, unreached: "pending", ...more });

/** The first steps are done, those at `at` are running. */
function middle(graph: Graph, at: number): Wishes {
  const of: Record<string, StepStatus> = {};
  for (const { key } of graph.nodes) {
    const place = Number(key.split("-")[1]);
    if (place <= at) of[key] = place < at ? "succeeded" : "running";
  }
  return wishes({ states: states(of) });
}

describe("grouping", () => {
  it("draws a small picture as it is", () => {
    const graph = lanes(2, 10);
    expect(grouped(graph, middle(graph, 5)).graph).toEqual(graph);
  });

  it("folds what is done and what is far away, and keeps what happens now", () => {
    const graph = lanes(25, 20);
    const { graph: shown, members, shown: where } = grouped(graph, middle(graph, 10));
    expect(shown.nodes.filter(({ kind }) => kind !== "run").map(({ title }) => title)).toEqual(["250 steps done", "175 more steps"]);
    // The running ones, and two after each of them.
    expect(shown.nodes.length).toBe(2 + 3 * 25);
    expect(members.get("#done")?.length).toBe(250);
    expect(where.get("s7-3")).toBe("#done");
    expect(shown.edges.filter(({ from }) => from === "#done").length).toBe(25);
    expect(shown.edges.some(({ from, to }) => from === to)).toBe(false);
  });

  it("opens what a person opens, and shows the chosen step", () => {
    const graph = lanes(25, 20);
    const open = { ...middle(graph, 10), choices: new Map([["#done", true]]) };
    expect(grouped(graph, open).graph.nodes.length).toBe(500 - 175 + 1);
    const chosen = grouped(graph, { ...middle(graph, 10), selected: "s3-2" });
    expect(chosen.shown.get("s3-2")).toBe("s3-2");
  });

  it("folds nothing before a run starts, and keeps what failed", () => {
    const graph = lanes(8, 8);
    expect(grouped(graph, wishes()).graph.nodes.length).toBe(64);
    const failed = middle(graph, 4);
    failed.states = new Map(failed.states).set("s2-2", { status: "failed", paths: [] });
    expect(grouped(graph, failed).shown.get("s2-2")).toBe("s2-2");
  });

  it("draws all of a large run that is over", () => {
    const graph = lanes(10, 10);
    const over = { ...middle(graph, 10), unreached: "skipped" as const };
    expect(grouped(graph, over).graph.nodes.length).toBe(100);
  });

  it("closes containers in which nothing happens, and opens the others", () => {
    const inner = (of: string) => Array.from({ length: 12 }, (_, at) => node(`${of}/${at}`, { parent: of }));
    const loops = ["a", "b", "c", "d"].flatMap((key) => [node(key, { kind: "for_each", group: true }), ...inner(key)]);
    const graph: Graph = { title: "loops", nodes: loops, edges: [] };
    const shown = grouped(graph, wishes({ states: states({ a: "succeeded", b: "running", "b/3": "running" }) }));
    expect(shown.graph.nodes.filter(({ key }) => key.length === 1).map(({ key, group }) => `${key} ${group}`)).toEqual(["a false", "b true", "c false", "d false"]);
    expect(shown.members.get("a")?.length).toBe(12);
    expect(shown.shown.get("a/4")).toBe("a");
    const opened = grouped(graph, wishes({ states: states({ b: "running" }), choices: new Map([["a", true], ["b", false]]) }));
    expect([opened.shown.get("a/4"), opened.shown.get("b/4")]).toEqual(["a/4", "b"]);
  });
});

describe("the layout", () => {
  it("puts each node below those before it, also with a circle", () => {
    const next = new Map([["a", new Set(["b", "c"])], ["b", new Set(["d"])], ["c", new Set(["d"])], ["d", new Set(["a"])]]);
    expect(layers(["a", "b", "c", "d"], next)).toEqual([["a"], ["b", "c"], ["d"]]);
  });

  it("lets no two nodes lie on each other, and wraps wide layers", () => {
    const graph = lanes(25, 3);
    const { nodes, width } = laidOut(graph, new Set());
    for (const [at, one] of nodes.entries()) {
      for (const other of nodes.slice(at + 1)) {
        const apart = one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
        expect(apart, `${one.key} ${other.key}`).toBe(true);
      }
    }
    expect(width).toBeLessThan(900);
    const place = new Map(nodes.map((node) => [node.key, node]));
    for (const { from, to } of graph.edges) expect(place.get(to)?.y).toBeGreaterThan(place.get(from)?.y ?? 0);
  });

  it("puts what is inside a container into its frame", () => {
    const nodes = [node("a"), node("loop", { group: true, kind: "repeat" }), node("loop/x", { parent: "loop" }), node("loop/y", { parent: "loop" })];
    const graph: Graph = { title: "", nodes, edges: [{ from: "a", to: "loop", kind: "dependency" }, { from: "loop/x", to: "loop/y", kind: "next" }] };
    const [, loop, x, y] = laidOut(graph, new Set()).nodes;
    if (!loop || !x || !y) throw new Error("a node has no place");
    for (const inner of [x, y]) expect(inner.x >= loop.x && inner.y >= loop.y && inner.x + inner.width <= loop.x + loop.width && inner.y + inner.height <= loop.y + loop.height).toBe(true);
    expect(y.y).toBeGreaterThan(x.y + x.height);
  });

  it("takes a chain of five thousand steps", () => {
    const graph = lanes(1, 5_000);
    expect(laidOut(graph, new Set()).nodes.length).toBe(5_000);
    expect(grouped(graph, middle(graph, 2_500)).graph.nodes.length).toBe(5);
  });
});
