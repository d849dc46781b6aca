// A field for a value, chosen by its schema.

import { type ReactNode, useId } from "react";
import type { Json } from "../api/types";
import { asSchema, choicesOf, fieldKind } from "./schema";
import styles from "./ui.module.css";

interface Props {
  label: string;
  schema: Json | undefined;
  text: string;
  type: (text: string) => void;
  hint?: ReactNode;
  wrong?: string;
  required?: boolean;
  rows?: number;
}

export function Field({ label, hint, wrong, ...rest }: Props) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {rest.required && <span className="quiet"> (required)</span>}
      </label>
      <Control id={id} described={hint || wrong ? `${id}-about` : undefined} wrong={wrong} {...rest} />
      {(hint || wrong) && (
        <span id={`${id}-about`} className={styles.hint}>
          {wrong ?? hint}
        </span>
      )}
    </div>
  );
}

function Control({
  id,
  described,
  schema,
  text,
  type,
  wrong,
  required,
  rows = 2,
}: Omit<Props, "label" | "hint"> & { id: string; described: string | undefined }) {
  const common = {
    id,
    className: styles.input,
    value: text,
    required,
    "aria-describedby": described,
    "aria-invalid": wrong ? true : undefined,
  };
  const kind = fieldKind(schema);
  if (kind === "choice" || kind === "boolean") {
    const choices = kind === "boolean" ? ["true", "false"] : choicesOf(schema);
    return (
      <select {...common} onChange={(event) => type(event.target.value)}>
        {!choices.includes(text) && <option value={text}>{text || "choose"}</option>}
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  if (kind === "number")
    return (
      <input
        {...common}
        type="number"
        step={asSchema(schema)["type"] === "integer" ? 1 : "any"}
        onChange={(event) => type(event.target.value)}
      />
    );
  if (kind === "text" && rows === 1) return <input {...common} type="text" onChange={(event) => type(event.target.value)} />;
  return (
    <textarea
      {...common}
      rows={kind === "json" ? Math.max(rows, 4) : rows}
      spellCheck={kind === "text"}
      onChange={(event) => type(event.target.value)}
    />
  );
}
