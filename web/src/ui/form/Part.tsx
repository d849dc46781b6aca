// The fields of a part of a form, by its kind.

import { useId } from "react";
import type { Draft, Errors } from "./draft";
import { Choice } from "./Choice";
import { Either } from "./Either";
import styles from "./form.module.css";
import { Frame } from "./Frame";
import { List, Several } from "./List";
import { severalOf } from "./draft";
import type { Node } from "./model";
import { ObjectFields } from "./ObjectFields";
import { JsonText, NumberInput, Text, YesNo } from "./Scalar";

export interface PartProps<N extends Node = Node, D extends Draft = Draft> {
  node: N;
  draft: D;
  change: (draft: Draft) => void;
  /** What the part is called. */
  label: string;
  /** The place, as a JSON pointer. */
  at: string;
  required: boolean;
  errors: Errors;
  /** Whether the label is only for screen readers, because the place says it. */
  bare?: boolean;
}

export function Part(props: PartProps) {
  const { node, draft } = props;
  if (draft.is === "raw") return <Raw {...props} draft={draft} />;
  if (node.kind === "constant") return null;
  if (node.kind === "object" && draft.is === "object") return <ObjectFields {...props} node={node} draft={draft} />;
  if (node.kind === "list" && draft.is === "list") {
    return severalOf(node) ? <Several {...props} node={node} draft={draft} /> : <List {...props} node={node} draft={draft} />;
  }
  if (node.kind === "either" && draft.is === "either") return <Either {...props} node={node} draft={draft} />;
  return <Scalar {...props} />;
}

/** A field with one control. */
function Scalar(props: PartProps) {
  const id = useId();
  const { node, draft, change, at, errors } = props;
  if (draft.is !== "text") return null;
  const wrong = errors.get(at);
  const common = { id, described: `${id}-about`, text: draft.text, type: (text: string) => change({ ...draft, text }), wrong, required: props.required };
  return (
    <Frame id={id} {...props} wrong={wrong} group={node.kind === "boolean"}>
      {node.kind === "text" && <Text {...common} node={node} />}
      {node.kind === "number" && <NumberInput {...common} node={node} />}
      {node.kind === "boolean" && <YesNo {...common} nullable={node.nullable} />}
      {node.kind === "choice" && <Choice {...common} node={node} />}
      {node.kind === "json" && <JsonText {...common} />}
    </Frame>
  );
}

/** A value that has no place in the form. */
function Raw({ draft, ...props }: PartProps<Node, Extract<Draft, { is: "raw" }>>) {
  const id = useId();
  const wrong = props.errors.get(props.at);
  const type = (text: string) => props.change({ is: "raw", text });
  return (
    <Frame id={id} {...props} wrong={wrong} hint="This value does not fit the form, so it is shown as JSON.">
      <JsonText id={id} described={`${id}-about`} text={draft.text} type={type} wrong={wrong} required={props.required} />
    </Frame>
  );
}

/** The button that adds or removes an optional part. */
export function Presence({ label, is, set }: { label: string; is: boolean; set: (there: "set" | "absent") => void }) {
  return (
    <button type="button" className={styles.small} onClick={() => set(is ? "absent" : "set")}>
      {is ? `Leave out ${label}` : `Add ${label}`}
    </button>
  );
}
