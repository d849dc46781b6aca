// What surrounds a control: its label, its description, and what is wrong with it.

import type { ReactNode } from "react";
import { exampleOf } from "./check";
import styles from "./form.module.css";
import type { Node } from "./model";

interface Props {
  id: string;
  label: string;
  node: Node;
  required: boolean;
  wrong: string | undefined;
  bare?: boolean;
  hint?: string;
  /** Whether the control is a group of controls. */
  group?: boolean;
  children: ReactNode;
}

export function Frame({ id, label, node, required, wrong, bare = false, hint, group = false, children }: Props) {
  const words = (
    <>
      {node.title ?? label}
      {!required && <span className="quiet"> (optional)</span>}
    </>
  );
  const none = node.nullable && required && (node.kind === "text" || node.kind === "number") ? "Empty means none." : undefined;
  const about = [node.description, hint ?? hintOf(node), none].filter(Boolean);
  return (
    <div className={styles.field} {...(group ? { role: "group", "aria-labelledby": `${id}-label` } : {})}>
      {group ? (
        <span id={`${id}-label`} className={bare ? "unseen" : styles.label}>
          {words}
        </span>
      ) : (
        <label htmlFor={id} className={bare ? "unseen" : styles.label}>
          {words}
        </label>
      )}
      {children}
      <span id={`${id}-about`} className={styles.about}>
        {wrong && (
          <span className={styles.wrong} role="alert">
            {wrong}
          </span>
        )}
        {about.map((text) => (
          <span key={text} className={styles.hint}>
            {text}
          </span>
        ))}
      </span>
    </div>
  );
}

/** What the schema asks for, in words. */
function hintOf(node: Node): string | undefined {
  if (node.kind === "json") return node.hint;
  if (node.kind === "text") {
    const example = exampleOf(node.format);
    if (node.format === "date") return undefined;
    if (example) return `For example ${example}`;
    if (node.pattern) return `Pattern: ${node.pattern.slice(0, 120)}`;
    return node.max === undefined ? undefined : `At most ${node.max} characters`;
  }
  if (node.kind !== "number") return undefined;
  const { integer, min, max, above, below, step } = node;
  const parts = [
    integer ? "whole number" : undefined,
    min !== undefined && max !== undefined ? `${min} to ${max}` : min !== undefined ? `at least ${min}` : max !== undefined ? `at most ${max}` : undefined,
    above === undefined ? undefined : `more than ${above}`,
    below === undefined ? undefined : `less than ${below}`,
    step === undefined ? undefined : `in steps of ${step}`,
  ].filter(Boolean);
  const text = parts.join(", ");
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
