// What a person has entered so far, as a tree beside the model, and the value that it means.

import type { Json } from "../../api/types";
import { textProblem, numberProblem } from "./check";
import { type Fields, fieldsOf, ITEMS_MAX, type Node } from "./model";

/** Whether a list, an object or a form is there. */
export type Presence = "set" | "absent" | "null";

export interface TextDraft {
  is: "text";
  /** The typed text; for a choice, its number in the list. */
  text: string;
  /** The value at the start, if an empty text may stay what it was. */
  was?: Json;
}

export interface ListDraft {
  is: "list";
  there: Presence;
  items: readonly { id: number; draft: Draft }[];
}

export interface ObjectDraft {
  is: "object";
  there: Presence;
  fields: ReadonlyMap<string, Draft>;
  /** Fields without a place in the form; they stay as they are. */
  rest: Fields;
}

export interface EitherDraft {
  is: "either";
  there: Presence;
  /** The chosen form, or -1. */
  chosen: number;
  options: ReadonlyMap<number, Draft>;
}

/** A value that does not fit the model, as JSON. */
export interface RawDraft {
  is: "raw";
  text: string;
}

export type Draft = TextDraft | ListDraft | ObjectDraft | EitherDraft | RawDraft;

/** Errors by JSON pointer. */
export type Errors = ReadonlyMap<string, string>;

let ids = 0;

/** A list item with an identity, so that it keeps its fields when it moves. */
export function newItem(draft: Draft): { id: number; draft: Draft } {
  ids += 1;
  return { id: ids, draft };
}

export function jsonText(value: Json | undefined): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** What is entered at the start: a value, or else what the schema suggests. */
export function draftOf(node: Node, given: Json | undefined, required: boolean): Draft {
  const value = given === undefined ? node.suggested : given;
  if (value === undefined) return empty(node, required);
  if (value === null && node.nullable) return { ...empty(node, false), ...(isText(node) ? { was: null } : { there: "null" }) } as Draft;
  return filled(node, value) ?? { is: "raw", text: jsonText(value) };
}

function isText(node: Node): boolean {
  return node.kind !== "list" && node.kind !== "object" && node.kind !== "either";
}

/** A list that needs items starts with at most this many. */
const START_MAX = 3;

function empty(node: Node, required: boolean): Draft {
  const there = required ? "set" : "absent";
  switch (node.kind) {
    case "list": {
      const count = required && !severalOf(node) ? Math.min(node.min, START_MAX) : 0;
      return { is: "list", there, items: Array.from({ length: count }, () => newItem(draftOf(node.item, undefined, true))) };
    }
    case "object":
      return { is: "object", there, fields: fieldDrafts(node), rest: {} };
    case "either":
      return { is: "either", there, chosen: -1, options: new Map() };
    case "constant":
      return { is: "text", text: "", was: node.value };
    default:
      return { is: "text", text: "" };
  }
}

/** The draft of a value, if the model has a place for it. */
function filled(node: Node, value: Json): Draft | undefined {
  const text = (text: string): TextDraft => ({ is: "text", text, was: value });
  switch (node.kind) {
    case "text":
      return typeof value === "string" ? text(value) : undefined;
    case "number":
      return typeof value === "number" ? text(String(value)) : undefined;
    case "boolean":
      return typeof value === "boolean" ? text(String(value)) : undefined;
    case "constant":
      return same(value, node.value) ? text("") : undefined;
    case "choice": {
      const at = node.choices.findIndex((choice) => same(choice.value, value));
      return at < 0 ? undefined : text(String(at));
    }
    case "json":
      return text(node.anything && typeof value === "string" && !isJson(value) ? value : jsonText(value));
    case "list":
      if (!Array.isArray(value) || value.length > ITEMS_MAX) return undefined;
      return { is: "list", there: "set", items: value.map((item) => newItem(draftOf(node.item, item, true))) };
    case "object": {
      const fields = fieldsOf(value);
      return fields && { is: "object", there: "set", fields: fieldDrafts(node, fields), rest: restOf(node, fields) };
    }
    case "either": {
      const chosen = node.options.findIndex((option) => fits(option.node, value));
      const option = node.options[chosen];
      return option && { is: "either", there: "set", chosen, options: new Map([[chosen, draftOf(option.node, value, true)]]) };
    }
  }
}

/** The drafts of all fields. In a given object, an optional field that is missing stays out; in a new one, it has what the schema suggests. */
function fieldDrafts({ fields }: Extract<Node, { kind: "object" }>, value?: Fields): Map<string, Draft> {
  const one = (name: string, node: Node, required: boolean): Draft => {
    if (!value) return draftOf(node, undefined, required);
    if (Object.hasOwn(value, name)) return draftOf(node, value[name], required);
    return node.kind === "constant" ? { is: "text", text: "" } : empty(node, required);
  };
  return new Map(fields.map(({ name, node, required }) => [name, one(name, node, required)]));
}

function restOf({ fields }: Extract<Node, { kind: "object" }>, value: Fields): Fields {
  const known = new Set(fields.map(({ name }) => name));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(name)));
}

/** Whether a value has a place in the model and no errors there. */
function fits(node: Node, value: Json): boolean {
  const draft = draftOf(node, value, true);
  return isClean(draft) && read(node, draft).errors.size === 0;
}

function isClean(draft: Draft): boolean {
  if (draft.is === "raw") return false;
  if (draft.is === "list") return draft.items.every((item) => isClean(item.draft));
  const inside = draft.is === "object" ? draft.fields : draft.is === "either" ? draft.options : new Map<string, Draft>();
  return [...inside.values()].every(isClean);
}

export function same(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The choices of a list that are ticked instead of added. */
const TICKED_MAX = 12;

export function severalOf(node: Extract<Node, { kind: "list" }>): Extract<Node, { kind: "choice" }> | undefined {
  const { item } = node;
  return node.unique && item.kind === "choice" && !item.nullable && item.choices.length <= TICKED_MAX ? item : undefined;
}

/** `/a/b` with another part. */
export function below(at: string, name: string | number): string {
  return `${at}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export interface Read {
  /** The value as far as it can be read; nothing if it is left out. */
  value: Json | undefined;
  errors: Errors;
}

/** The value of a whole form, and what is wrong with it. */
export function read(node: Node, draft: Draft): Read {
  const errors = new Map<string, string>();
  const value = new Reader(errors).value(node, draft, "", true);
  return { value, errors };
}

class Reader {
  constructor(private readonly errors: Map<string, string>) {}

  /** The value of a part; `undefined` if it is left out. */
  value(node: Node, draft: Draft, at: string, required: boolean): Json | undefined {
    if (draft.is === "raw") return this.json(draft.text, at, false, required);
    if (draft.is === "text") return this.text(node, draft, at, required);
    if (draft.there !== "set") {
      if (draft.there === "null") return null;
      return required ? this.wrong(at, "This is required.") : undefined;
    }
    if (draft.is === "list" && node.kind === "list") return this.list(node, draft, at);
    if (draft.is === "object" && node.kind === "object") return this.object(node, draft, at);
    if (draft.is === "either" && node.kind === "either") return this.either(node, draft, at, required);
    return undefined;
  }

  private wrong(at: string, why: string): undefined {
    if (!this.errors.has(at)) this.errors.set(at, why);
    return undefined;
  }

  private text(node: Node, draft: TextDraft, at: string, required: boolean): Json | undefined {
    if (node.kind === "constant") return required || draft.was !== undefined ? node.value : undefined;
    if (draft.text === "") return this.nothing(node, draft, at, required);
    switch (node.kind) {
      case "text":
        return this.checked(draft.text, textProblem(node, draft.text), at);
      case "number":
        return this.checked(Number(draft.text), numberProblem(node, draft.text), at);
      case "boolean":
        return draft.text === "true";
      case "choice":
        return node.choices[Number(draft.text)]?.value ?? this.wrong(at, "Choose one of the list.");
      default:
        return this.json(draft.text, at, node.kind === "json" && node.anything, required);
    }
  }

  private nothing(node: Node, draft: TextDraft, at: string, required: boolean): Json | undefined {
    if (node.nullable && (required || draft.was === null)) return null;
    if (node.kind === "text" && draft.was === "") return this.checked("", textProblem(node, ""), at);
    return required ? this.wrong(at, "This is required.") : undefined;
  }

  private checked(value: Json, problem: string | undefined, at: string): Json {
    if (problem) this.wrong(at, problem);
    return value;
  }

  private json(text: string, at: string, anything: boolean, required: boolean): Json | undefined {
    if (text.trim() === "") return required ? this.wrong(at, "This is required.") : undefined;
    try {
      return JSON.parse(text) as Json;
    } catch {
      return anything ? text : this.wrong(at, "This must be JSON: text in double quotes, lists in [ ], objects in { }.");
    }
  }

  private list(node: Extract<Node, { kind: "list" }>, { items }: ListDraft, at: string): Json {
    const values = items.map(({ draft }, n) => this.value(node.item, draft, below(at, n), true) ?? null);
    if (items.length < node.min) this.wrong(at, `There must be at least ${counted(node.min)}.`);
    if (items.length > node.max) this.wrong(at, `There must be at most ${counted(node.max)}.`);
    if (node.unique && new Set(values.map((value) => JSON.stringify(value))).size < values.length) this.wrong(at, "No two items may be the same.");
    return values;
  }

  private object(node: Extract<Node, { kind: "object" }>, { fields, rest }: ObjectDraft, at: string): Json {
    const known = node.fields.flatMap(({ name, node, required }): [string, Json][] => {
      const draft = fields.get(name);
      const value = draft && this.value(node, draft, below(at, name), required);
      return value === undefined ? [] : [[name, value]];
    });
    // `fromEntries` makes own fields of every name, also of `__proto__`.
    return Object.fromEntries([...known, ...Object.entries(rest)]);
  }

  private either(node: Extract<Node, { kind: "either" }>, { chosen, options }: EitherDraft, at: string, required: boolean): Json | undefined {
    const [option, draft] = [node.options[chosen], options.get(chosen)];
    if (option && draft) return this.value(option.node, draft, at, true);
    return required ? this.wrong(at, "Choose one of the forms.") : undefined;
  }
}

function counted(n: number): string {
  return n === 1 ? "1 item" : `${n} items`;
}

/** Errors at places without a field, moved to the nearest place that has one. */
export function placed(node: Node, draft: Draft, errors: Errors): Errors {
  const places = new Set<string>();
  collect(node, draft, "", places);
  const found = new Map<string, string>();
  for (const [at, message] of errors) {
    let place = at;
    while (!places.has(place) && place !== "") place = place.slice(0, place.lastIndexOf("/"));
    const inside = place === at ? "" : `${at.slice(place.length + 1).replaceAll("/", ".")}: `;
    if (!found.has(place)) found.set(place, `${inside}${message}`);
  }
  return found;
}

function collect(node: Node, draft: Draft, at: string, places: Set<string>): void {
  places.add(at);
  if (draft.is === "list" && node.kind === "list" && !severalOf(node)) {
    draft.items.forEach((item, n) => collect(node.item, item.draft, below(at, n), places));
  } else if (draft.is === "object" && node.kind === "object" && draft.there === "set") {
    for (const { name, node: inside } of node.fields) {
      const field = draft.fields.get(name);
      if (field && inside.kind !== "constant") collect(inside, field, below(at, name), places);
    }
  } else if (draft.is === "either" && node.kind === "either") {
    const [option, inside] = [node.options[draft.chosen], draft.options.get(draft.chosen)];
    if (option && inside) collect(option.node, inside, at, places);
  }
}
