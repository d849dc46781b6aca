// The picture of a workflow: nodes at the server's positions, each with its state.

import "@xyflow/react/dist/style.css";
import { Controls, type Node, ReactFlow, ReactFlowProvider, useReactFlow, ViewportPortal } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Picture, StepStatus } from "../../../api/types";
import { Edges } from "./Edges";
import { type GraphContext, Looks } from "./looks";
import { GroupNode, StepNode } from "./Node";
import styles from "./graph.module.css";
import { type NodeState, Places, type Turns } from "./nodes";
import { hiddenKeys } from "./units";

interface Props {
  picture: Picture;
  /** The state of each node; without it, only the nodes are shown. */
  states?: Map<string, NodeState>;
  counts?: Map<string, number>;
  turns?: Turns;
  setTurn?: (key: string, turn: number | undefined) => void;
  selected?: string;
  select?: (key: string) => void;
  critical?: ReadonlySet<string>;
  /** The text for nodes whose steps were not reached. */
  unreached?: StepStatus;
}

const READABLE = 0.7;
const SMALLEST = 0.25;

// Not `group`: the library has its own style for that name.
const TYPES = { step: StepNode, frame: GroupNode };

export default function GraphView(props: Props) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ picture, states, counts, turns, setTurn, selected, select, critical, unreached = "pending" }: Props) {
  const places = useMemo(() => new Places(picture.graph), [picture.graph]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const hidden = useMemo(() => hiddenKeys(picture.graph, open), [picture.graph, open]);
  const nodes = useMemo(() => flowNodes(picture, hidden), [picture, hidden]);
  const looks: GraphContext = {
    places,
    states,
    counts,
    turns,
    setTurn,
    selected,
    select,
    critical,
    unreached,
    open,
    toggle: (unit) => setOpen(toggled(open, unit)),
  };
  return (
    <Looks value={looks}>
      <div className={styles.graph} role="group" aria-label={`Picture of ${picture.graph.title}`}>
        <ReactFlow
          nodes={nodes}
          edges={[]}
          nodeTypes={TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          zoomOnScroll={false}
          preventScrolling={false}
          minZoom={0.1}
          maxZoom={1.5}
          onlyRenderVisibleElements
          proOptions={{ hideAttribution: true }}
        >
          <ViewportPortal>
            <Edges picture={picture} hidden={hidden} />
          </ViewportPortal>
          <Controls showInteractive={false} />
          <Camera nodes={nodes} selected={selected} />
        </ReactFlow>
      </div>
    </Looks>
  );
}

function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

function flowNodes({ graph, layout }: Picture, hidden: ReadonlySet<string>): Node[] {
  return graph.nodes.flatMap((node, at) => {
    const area = layout.nodes[at];
    if (!area || hidden.has(node.key)) return [];
    const { x, y, width, height } = area;
    return [
      {
        id: node.key,
        type: node.group ? "frame" : "step",
        position: { x, y },
        width,
        height,
        initialWidth: width,
        initialHeight: height,
        zIndex: node.group ? 0 : 2,
        data: { node },
      },
    ];
  });
}

function isBetween(place: number, size: number): boolean {
  return place > 30 && place < size - 30;
}

/** Fits the whole width, and the whole height too if it stays readable. */
function zoomed(across: number, down: number): number {
  const wide = Math.min(1, Math.max(SMALLEST, across));
  return down >= READABLE ? Math.min(wide, down) : wide;
}

/** Shows the start at a readable size, and moves to a chosen step. */
function Camera({ nodes, selected }: { nodes: Node[]; selected: string | undefined }) {
  const flow = useReactFlow();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const paper = place.current?.closest(`.${styles.graph}`);
    const { clientWidth: width, clientHeight: height } = paper ?? { clientWidth: 600, clientHeight: 600 };
    const right = Math.max(...nodes.map((node) => node.position.x + (node.width ?? 0)));
    const left = Math.min(...nodes.map((node) => node.position.x));
    const top = Math.min(...nodes.map((node) => node.position.y));
    const bottom = Math.max(...nodes.map((node) => node.position.y + (node.height ?? 0)));
    const zoom = zoomed((width - 24) / (right - left), (height - 32) / (bottom - top));
    const x = Math.max(12, (width - (right - left) * zoom) / 2) - left * zoom;
    void flow.setViewport({ x, y: 16 - top * zoom, zoom });
  }, [flow, nodes]);
  useEffect(() => {
    const node = nodes.find((node) => node.id === selected);
    const paper = place.current?.closest(`.${styles.graph}`);
    if (!node || !paper) return;
    const middle = { x: node.position.x + (node.width ?? 0) / 2, y: node.position.y + Math.min(node.height ?? 0, 100) / 2 };
    const { x, y, zoom } = flow.getViewport();
    const isSeen = isBetween(middle.x * zoom + x, paper.clientWidth) && isBetween(middle.y * zoom + y, paper.clientHeight);
    if (!isSeen) void flow.setCenter(middle.x, middle.y, { zoom });
  }, [flow, nodes, selected]);
  return <div ref={place} hidden />;
}
