// One of several forms.

import { useId } from "react";
import { draftOf, type EitherDraft } from "./draft";
import { Frame } from "./Frame";
import styles from "./form.module.css";
import type { EitherNode } from "./model";
import { Part, type PartProps } from "./Part";
import { attributes } from "./Scalar";

export function Either({ node, draft, change, label, at, required, errors, bare = false }: PartProps<EitherNode, EitherDraft>) {
  const id = useId();
  const option = node.options[draft.chosen];
  const inside = draft.options.get(draft.chosen);
  const isThere = draft.there === "set" && option !== undefined && inside !== undefined;
  // The chosen form shows its own errors.
  const wrong = isThere ? undefined : errors.get(at);
  const choose = (value: string) => {
    if (value === "") return change({ ...draft, there: node.nullable ? "null" : required ? "set" : "absent", chosen: -1 });
    const chosen = Number(value);
    const next = node.options[chosen];
    if (!next) return;
    const kept = draft.options.get(chosen) ?? draftOf(next.node, undefined, true);
    change({ ...draft, there: "set", chosen, options: new Map(draft.options).set(chosen, kept) });
  };
  return (
    <div className={styles.group}>
      <Frame id={id} label={label} node={node} required={required} wrong={wrong} bare={bare}>
        <select
          {...attributes({ id, described: `${id}-about`, text: "", type: choose, wrong, required })}
          value={isThere ? String(draft.chosen) : ""}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">{node.nullable ? "none" : required ? "choose" : "not set"}</option>
          {node.options.map(({ label }, at) => (
            <option key={at} value={String(at)}>
              {label}
            </option>
          ))}
        </select>
      </Frame>
      {isThere && (
        <Part
          node={option.node}
          draft={inside}
          change={(changed) => change({ ...draft, options: new Map(draft.options).set(draft.chosen, changed) })}
          label={option.label}
          at={at}
          required
          errors={errors}
          bare={option.node.kind !== "list"}
        />
      )}
    </div>
  );
}
