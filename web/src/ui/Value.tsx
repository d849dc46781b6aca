// Shows a value for people: text as text, an object as a table, a list of objects as rows, the rest as JSON.

import type { ReactNode } from "react";
import type { Json } from "../api/types";
import styles from "./ui.module.css";

export function Value({ value }: { value: Json }) {
  if (typeof value === "string") return <Text text={value} />;
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

function Fields({ fields }: { fields: Fields }) {
  return (
    <table className={styles.table}>
      <tbody>
        {Object.entries(fields).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <Cell value={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rows({ rows }: { rows: Fields[] }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <table className={styles.table}>
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
        {rows.map((row, at) => (
          <tr key={at}>
            {names.map((name) => (
              <td key={name}>
                {name in row && <Cell value={row[name] ?? null} />}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ value }: { value: Json }) {
  if (value === "") return <Nothing />;
  if (value === null || typeof value !== "object") return typeof value === "string" ? value : <code>{String(value)}</code>;
  if (!Array.isArray(value)) return <Fields fields={value} />;
  if (isRows(value)) return <Rows rows={value} />;
  return value.every((item) => typeof item !== "object") ? value.join(", ") : <code>{JSON.stringify(value)}</code>;
}
