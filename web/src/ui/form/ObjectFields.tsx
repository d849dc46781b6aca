// The fields of an object.

import { useId } from "react";
import { below, type ObjectDraft } from "./draft";
import styles from "./form.module.css";
import { count } from "../format";
import type { ObjectNode } from "./model";
import { Part, type PartProps, Presence } from "./Part";

export function ObjectFields({ node, draft, change, label, at, required, errors, bare = false }: PartProps<ObjectNode, ObjectDraft>) {
  const id = useId();
  const wrong = errors.get(at);
  const name = node.title ?? label;
  const isThere = draft.there === "set";
  const rest = Object.keys(draft.rest).length;
  return (
    <div className={styles.group} data-inner={(isThere && !bare) || undefined} role="group" aria-labelledby={id}>
      <div className={styles.head}>
        <span id={id} className={bare ? "unseen" : styles.label}>
          {name}
          {!required && !node.nullable && <span className="quiet"> (optional)</span>}
        </span>
        {(!required || node.nullable) && (
          <Presence label={name} is={isThere} set={(there) => change({ ...draft, there: there === "absent" && node.nullable ? "null" : there })} />
        )}
      </div>
      {node.description && <span className={styles.hint}>{node.description}</span>}
      {wrong && (
        <span className={styles.wrong} role="alert">
          {wrong}
        </span>
      )}
      {isThere &&
        node.fields.map(({ name, node: inside, required }) => {
          const field = draft.fields.get(name);
          const set = (part: typeof field) => part && change({ ...draft, fields: new Map(draft.fields).set(name, part) });
          return field && <Part key={name} node={inside} draft={field} change={set} label={name} at={below(at, name)} required={required} errors={errors} />;
        })}
      {isThere && rest > 0 && <span className={styles.hint}>{count(rest, "other field")} without a place in this form: kept as they are.</span>}
    </div>
  );
}
