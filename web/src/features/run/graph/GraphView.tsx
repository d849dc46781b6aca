// The picture of a workflow: nodes at the server's positions, each with its state.

import "@xyflow/react/dist/style.css";
import { Controls, MiniMap, type Node, Panel, ReactFlow, ReactFlowProvider, ViewportPortal } from "@xyflow/react";
import { useMemo, useRef, useState } from "react";
import type { Picture, StepStatus } from "../../../api/types";
import { toneOf } from "../../../ui/Status";
import { activeKey } from "./active";
import { Edges } from "./Edges";
import { type Grouping, grouped, isLarge, type Wishes } from "./grouping";
import { laidOut } from "./layout";
import { type GraphContext, Looks } from "./looks";
import { FoldedNode, GroupNode, StepNode } from "./Node";
import styles from "./graph.module.css";
import { type NodeState, Places, type Turns } from "./nodes";
import { hiddenKeys } from "./units";
import { useCamera } from "./useCamera";

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

// Not `group`: the library has its own style for that name.
const TYPES = { step: StepNode, frame: GroupNode, folded: FoldedNode };

export default function GraphView(props: Props) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

const NOTHING: ReadonlyMap<string, boolean> = new Map();

function Flow({ picture, states, counts, turns, setTurn, selected, select, critical, unreached = "pending" }: Props) {
  const places = useMemo(() => new Places(picture.graph), [picture.graph]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [choices, setChoices] = useState(NOTHING);
  const hidden = useMemo(() => hiddenKeys(picture.graph, open), [picture.graph, open]);
  const grouping = useGrouping(picture.graph, { states, choices, selected, unreached });
  const isWhole = grouping.members.size === 0 && !isLarge(picture.graph);
  const layout = useMemo(() => (isWhole ? picture.layout : laidOut(grouping.graph, hidden)), [picture, grouping, hidden, isWhole]);
  const drawn = useMemo(() => ({ graph: grouping.graph, layout }), [grouping, layout]);
  const nodes = useMemo(() => flowNodes(drawn, hidden), [drawn, hidden]);
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
    members: grouping.members,
    choose: states && ((key, isOpen) => setChoices(new Map(choices).set(key, isOpen))),
    unfolded: new Set([...choices].filter(([key, isOpen]) => isOpen && key.includes("#")).map(([key]) => key)),
  };
  const camera = useCamera(nodes, { selected: shownKey(grouping.shown, selected), active: shownKey(grouping.shown, activeKey(picture.graph, states)) });
  return (
    <Looks value={looks}>
      <div ref={camera.paper} className={styles.graph} role="group" aria-label={`Picture of ${picture.graph.title}`}>
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
          minZoom={0.05}
          maxZoom={1.5}
          onlyRenderVisibleElements
          onMoveStart={camera.moved}
          proOptions={{ hideAttribution: true }}
        >
          <ViewportPortal>
            <Edges picture={drawn} hidden={hidden} />
          </ViewportPortal>
          <Controls showInteractive={false} onZoomIn={camera.stop} onZoomOut={camera.stop} onFitView={camera.stop} />
          {isLarge(picture.graph) && <MiniMap pannable zoomable ariaLabel="The whole picture" nodeClassName={(node) => toneOfNode(states, grouping, node.id)} />}
          <Panel position="top-right" className={styles.tools}>
            {[...looks.unfolded].map((key) => (
              <button key={key} type="button" onClick={() => looks.choose?.(key, false)}>
                {key.endsWith("#done") ? "Fold finished steps" : "Fold later steps"}
              </button>
            ))}
            {states && !camera.follows && (
              <button type="button" onClick={camera.follow}>
                Follow the run
              </button>
            )}
          </Panel>
        </ReactFlow>
      </div>
    </Looks>
  );
}

/** The grouping changes with the states, but the picture only if another part is folded. */
function useGrouping(graph: Picture["graph"], wishes: Wishes): Grouping {
  const last = useRef<Grouping>(undefined);
  const { states, choices, selected, unreached } = wishes;
  return useMemo(() => {
    const next = grouped(graph, { states, choices, selected, unreached });
    const before = last.current;
    const isSame = before?.graph.title === graph.title && keysOf(before) === keysOf(next);
    last.current = isSame && before ? before : next;
    return last.current;
  }, [graph, states, choices, selected, unreached]);
}

function keysOf({ graph }: Grouping): string {
  return graph.nodes.map(({ key, title, group }) => `${key}${group ? "+" : ""}${key.includes("#") ? title : ""}`).join(" ");
}

function shownKey(shown: ReadonlyMap<string, string>, key: string | undefined): string | undefined {
  return key && (shown.get(key) ?? key);
}

/** The class for a node of the small map. */
function toneOfNode(states: Props["states"], { members }: Grouping, key: string): string {
  const status = states?.get(key)?.status ?? (key.endsWith("#done") ? "succeeded" : members.has(key) ? "pending" : undefined);
  return status ? (styles[`map_${toneOf(status)}`] ?? "") : "";
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
        type: node.group ? "frame" : node.kind === "done" || node.kind === "ahead" ? "folded" : "step",
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
