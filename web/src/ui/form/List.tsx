// A list: items are added, removed and moved. A list of different choices is ticked.

import { useId } from "react";
import { below, type Draft, draftOf, type ListDraft, newItem, severalOf } from "./draft";
import styles from "./form.module.css";
import { ITEMS_MAX, type ListNode } from "./model";
import { Part, type PartProps, Presence } from "./Part";

type Items = ListDraft["items"];

export function List(props: PartProps<ListNode, ListDraft>) {
  const { node, draft, change, label, at, errors } = props;
  const { items } = draft;
  const name = node.title ?? label;
  const set = (items: Items) => change({ ...draft, there: "set", items });
  const isFull = items.length >= Math.min(node.max, ITEMS_MAX);
  return (
    <Group {...props}>
      {items.length > 0 && (
        <ol className={styles.items}>
          {items.map(({ id, draft: item }, n) => (
            <li key={id} className={styles.item} data-plain={item.is === "text" || undefined}>
              <Part
                node={node.item}
                draft={item}
                change={(changed) => set(items.map((one) => (one.id === id ? { id, draft: changed } : one)))}
                label={`${name} ${n + 1}`}
                at={below(at, n)}
                required
                errors={errors}
                bare={item.is === "text"}
              />
              <Moves n={n} items={items} set={set} name={name} />
            </li>
          ))}
        </ol>
      )}
      <div>
        <button type="button" className={styles.small} disabled={isFull} onClick={() => set([...items, newItem(draftOf(node.item, undefined, true))])}>
          Add {items.length ? "another" : "one"} to {name}
        </button>
      </div>
    </Group>
  );
}

function Moves({ n, items, set, name }: { n: number; items: Items; set: (items: Items) => void; name: string }) {
  const move = (by: number) => set(moved(items, n, by));
  const what = `${name} ${n + 1}`;
  return (
    <span className={styles.moves}>
      <button type="button" className={styles.icon} aria-label={`Move ${what} up`} title="Move up" disabled={n === 0} onClick={() => move(-1)}>
        ↑
      </button>
      <button type="button" className={styles.icon} aria-label={`Move ${what} down`} title="Move down" disabled={n === items.length - 1} onClick={() => move(1)}>
        ↓
      </button>
      <button type="button" className={styles.icon} aria-label={`Remove ${what}`} title="Remove" onClick={() => set(items.filter((_, at) => at !== n))}>
        ✕
      </button>
    </span>
  );
}

/** The list with an item one place further. */
export function moved<T>(items: readonly T[], n: number, by: number): T[] {
  const next = [...items];
  const [item] = next.splice(n, 1);
  if (item !== undefined) next.splice(n + by, 0, item);
  return next;
}

export function Several(props: PartProps<ListNode, ListDraft>) {
  const { node, draft, change } = props;
  const id = useId();
  const choices = severalOf(node)?.choices ?? [];
  const chosen = new Set(draft.items.map(({ draft }) => (draft.is === "text" ? draft.text : "")));
  const toggle = (value: string) => {
    const next = choices.map((_, at) => String(at)).filter((at) => (at === value ? !chosen.has(at) : chosen.has(at)));
    change({ ...draft, there: "set", items: next.map((text): Items[number] => newItem({ is: "text", text } satisfies Draft)) });
  };
  return (
    <Group {...props}>
      <div className={styles.options}>
        {choices.map(({ label }, at) => (
          <label key={at} className={styles.option} htmlFor={`${id}-${at}`}>
            <input id={`${id}-${at}`} type="checkbox" checked={chosen.has(String(at))} onChange={() => toggle(String(at))} />
            {label}
          </label>
        ))}
      </div>
    </Group>
  );
}

/** The name of a list, what is wrong with it, and whether it is there at all. */
function Group({ node, draft, change, label, at, required, errors, children }: PartProps<ListNode, ListDraft> & { children: React.ReactNode }) {
  const id = useId();
  const name = node.title ?? label;
  const wrong = errors.get(at);
  const isThere = draft.there === "set";
  return (
    <div className={styles.group} role="group" aria-labelledby={id}>
      <div className={styles.head}>
        <span id={id} className={styles.label}>
          {name}
          {!required && <span className="quiet"> (optional)</span>}
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
      {isThere && children}
    </div>
  );
}
