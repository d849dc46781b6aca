// Controls for one value.

import ui from "../ui.module.css";
import styles from "./form.module.css";
import type { NumberNode, TextNode } from "./model";

export interface ControlProps {
  id: string;
  described: string;
  text: string;
  type: (text: string) => void;
  wrong: string | undefined;
  required: boolean;
}

/** The attributes that all controls have. */
export function attributes({ id, described, wrong, required }: ControlProps) {
  return {
    id,
    className: ui.input,
    "aria-describedby": described,
    "aria-invalid": wrong ? (true as const) : undefined,
    "aria-required": required ? (true as const) : undefined,
  };
}

const INPUTS: Record<string, string> = { email: "email", uri: "url", date: "date" };

export function Text({ node, ...props }: ControlProps & { node: TextNode }) {
  const { text, type } = props;
  if (node.multiline || text.includes("\n"))
    return <textarea {...attributes(props)} className={`${ui.input} ${styles.growing}`} rows={1} value={text} onChange={(event) => type(event.target.value)} />;
  const kind = node.format !== undefined && Object.hasOwn(INPUTS, node.format) ? INPUTS[node.format] : "text";
  return <input {...attributes(props)} type={kind} value={text} onChange={(event) => type(event.target.value)} />;
}

/** Not of the type `number`: that hides from the page what was typed if it is no number. */
export function NumberInput({ node, ...props }: ControlProps & { node: NumberNode }) {
  return (
    <input
      {...attributes(props)}
      className={`${ui.input} ${styles.number}`}
      type="text"
      inputMode={node.integer && (node.min ?? -1) >= 0 ? "numeric" : "decimal"}
      autoComplete="off"
      value={props.text}
      onChange={(event) => props.type(event.target.value.trim())}
      onKeyDown={(event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        props.type(stepped(node, props.text, by));
      }}
    />
  );
}

/** The next number up or down, within the limits. */
export function stepped({ step = 1, min = -Infinity, max = Infinity }: NumberNode, text: string, by: number): string {
  const value = Number(text);
  const next = text === "" ? (Number.isFinite(min) ? min : 0) : Number.isFinite(value) ? Number((value + by * step).toPrecision(12)) : 0;
  return String(Math.min(Math.max(next, min), max));
}

export function YesNo({ nullable, ...props }: ControlProps & { nullable: boolean }) {
  const { id, text, type, required } = props;
  const options = [
    ["true", "Yes"],
    ["false", "No"],
    ...(required && !nullable ? [] : [["", nullable ? "Neither" : "Not set"]]),
  ] as const;
  return (
    <div className={styles.options}>
      {options.map(([value, label]) => (
        <label key={value} className={styles.option}>
          <input
            type="radio"
            name={id}
            checked={text === value}
            aria-describedby={props.described}
            aria-invalid={props.wrong ? true : undefined}
            onChange={() => type(value ?? "")}
          />
          {label}
        </label>
      ))}
    </div>
  );
}

export function JsonText(props: ControlProps) {
  const rows = Math.min(Math.max(props.text.split("\n").length, 3), 16);
  return (
    <textarea
      {...attributes(props)}
      className={`${ui.input} ${styles.json}`}
      rows={rows}
      spellCheck={false}
      autoComplete="off"
      value={props.text}
      onChange={(event) => props.type(event.target.value)}
    />
  );
}
