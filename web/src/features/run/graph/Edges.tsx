// Arrows along the routes that the server computed.

import type { Picture, Point } from "../../../api/types";
import styles from "./graph.module.css";

export function Edges({ picture: { graph, layout }, hidden }: { picture: Picture; hidden: ReadonlySet<string> }) {
  const shown = layout.edges.flatMap((edge, at) => {
    const meant = graph.edges[at];
    return meant && edge.points.length > 1 && !hidden.has(edge.from) && !hidden.has(edge.to)
      ? [{ ...meant, points: edge.points, area: edge.label }]
      : [];
  });
  return (
    <svg className={styles.edges} width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
          <path d="M0 0 8 4 0 8z" className={styles.tip} />
        </marker>
      </defs>
      {shown.map((edge) => (
        <g key={`${edge.from} ${edge.to} ${edge.kind} ${edge.label ?? ""}`}>
          <path d={way(edge.points)} className={styles.edge} data-kind={edge.kind} markerEnd="url(#arrow)" />
          {edge.area && edge.label && (
            <text x={edge.area.x + edge.area.width / 2} y={edge.area.y + edge.area.height / 2} className={styles.edgeLabel}>
              {edge.label}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

/** A path through points, with rounded corners. */
function way(points: Point[]): string {
  const [first, ...rest] = points as [Point, ...Point[]];
  const parts = [`M${first.x} ${first.y}`];
  rest.forEach((point, at) => {
    const next = rest[at + 1];
    if (next) parts.push(`Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`);
    else parts.push(`L${point.x} ${point.y}`);
  });
  return parts.join("");
}
