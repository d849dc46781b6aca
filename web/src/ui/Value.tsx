// Shows a value for people: text as text or Markdown, an object as a table, a list of objects as rows, the rest as JSON.

import { type ReactNode, useState } from "react";
import type { Json } from "../api/types";
import { Markdown } from "./markdown/Markdown";
import { isMarkdown } from "./markdown/parse";
import styles from "./ui.module.css";

export function Value({ value }: { value: Json }) {
  if (typeof value === "string") return <Report text={value} />;
  if (Array.isArray(value) && !isRows(value)) return <Text text={inJson(value)} />;
  if (value === null || typeof value !== "object") return <code>{inJson(value)}</code>;
  return <Scroll>{Array.isArray(value) ? <Rows rows={value as Fields[]} /> : <Fields fields={value} />}</Scroll>;
}

/** A box that may be wider than the page; the keyboard can scroll it. */
export function Scroll({ children }: { children: ReactNode }) {
  return (
    <div className={styles.scroll} tabIndex={0}>
      {children}
    </div>
  );
}

export function Text({ text }: { text: string }) {
  if (text === "") return <Nothing />;
  return (
    <pre className={styles.pre} tabIndex={0}>
      {text}
    </pre>
  );
}

/** A text that may be Markdown. It can be shown as it was written. */
export function Report({ text }: { text: string }) {
  const [raw, show] = useState(false);
  if (!isMarkdown(text)) return <Text text={text} />;
  return (
    <div className={styles.report}>
      <button type="button" className={styles.toggle} aria-pressed={raw} onClick={() => show(!raw)}>
        As written
      </button>
      {raw ? <Text text={text} /> : <Markdown text={text} />}
    </div>
  );
}

/** A mark for an empty text, which would look like a missing value. */
function Nothing() {
  return <span className="quiet">empty</span>;
}

type Fields = { [key: string]: Json };

function isRows(list: Json[]): list is Fields[] {
  return list.length > 0 && list.every((item) => item !== null && typeof item === "object" && !Array.isArray(item));
}

export function inJson(value: Json): string {
  return JSON.stringify(value, null, 2);
}

/** What is deeper inside a value is shown as JSON. */
const DEPTH_MAX = 6;
const ROWS_MAX = 200;

function Fields({ fields, depth = 0 }: { fields: Fields; depth?: number }) {
  return (
    <table className={styles.table} data-cards>
      <tbody>
        {Object.entries(fields).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <Cell value={value} depth={depth + 1} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rows({ rows, depth = 0 }: { rows: Fields[]; depth?: number }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <>
      <table className={styles.table} data-cards>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map((row, at) => (
            <tr key={at}>
              {names.map((name) => (
                <td key={name} data-label={name}>
                  {Object.hasOwn(row, name) && <Cell value={row[name] ?? null} depth={depth + 1} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && <p className="quiet">and {rows.length - ROWS_MAX} more</p>}
    </>
  );
}

function Cell({ value, depth }: { value: Json; depth: number }) {
  if (value === "") return <Nothing />;
  if (typeof value === "string") return isMarkdown(value) ? <Markdown text={value} /> : <span className={styles.words}>{value}</span>;
  if (value === null || typeof value !== "object") return <code>{String(value)}</code>;
  if (depth > DEPTH_MAX) return <code>{JSON.stringify(value)}</code>;
  if (!Array.isArray(value)) return <Fields fields={value} depth={depth} />;
  if (isRows(value)) return <Rows rows={value} depth={depth} />;
  return value.every((item) => typeof item !== "object") ? value.join(", ") : <code>{JSON.stringify(value)}</code>;
}
