// One of a list of values. A long list is searched by typing.

import { useState } from "react";
import ui from "../ui.module.css";
import styles from "./form.module.css";
import type { ChoiceNode } from "./model";
import { attributes, type ControlProps } from "./Scalar";

/** A longer list is searched. */
const SELECT_MAX = 60;
/** The most matches that a search shows. */
const MATCHES_MAX = 20;

export function Choice({ node, ...props }: ControlProps & { node: ChoiceNode }) {
  const { text, type, required } = props;
  const { choices, nullable } = node;
  if (choices.length > SELECT_MAX) return <Search {...props} node={node} />;
  const none = nullable ? "none" : required ? "choose" : "not set";
  return (
    <select {...attributes(props)} value={text} onChange={(event) => type(event.target.value)}>
      {(text === "" || nullable || !required) && <option value="">{none}</option>}
      {choices.map(({ label }, at) => (
        <option key={at} value={String(at)}>
          {label}
        </option>
      ))}
    </select>
  );
}

function Search({ node, ...props }: ControlProps & { node: ChoiceNode }) {
  const { text, type } = props;
  const chosen = text === "" ? undefined : node.choices[Number(text)];
  const [words, search] = useState(chosen?.label ?? "");
  const find = (words: string) => {
    search(words);
    const at = node.choices.findIndex(({ label }) => label === words);
    type(at < 0 ? (words === "" ? "" : "-1") : String(at));
  };
  const wanted = words.toLowerCase();
  const fitting = node.choices.flatMap(({ label }, at) => (label.toLowerCase().includes(wanted) ? [{ label, at }] : []));
  const isChosen = chosen?.label === words && words !== "";
  return (
    <>
      <input {...attributes(props)} type="text" autoComplete="off" placeholder={`search in ${node.choices.length} choices`} value={words} onChange={(event) => find(event.target.value)} />
      {words !== "" && !isChosen && (
        <div className={styles.matches}>
          {fitting.slice(0, MATCHES_MAX).map(({ label, at }) => (
            <button key={at} type="button" className={styles.small} onClick={() => find(label)}>
              {label}
            </button>
          ))}
          <span className={ui.hint}>{fitting.length > MATCHES_MAX ? `and ${fitting.length - MATCHES_MAX} more` : fitting.length ? "" : "nothing fits"}</span>
        </div>
      )}
    </>
  );
}

