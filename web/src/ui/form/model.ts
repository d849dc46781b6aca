// The model of a form: what a JSON Schema asks for, as a tree of fields.
//
// The server validates every value. The model only has to be good enough for a form: a part that it does not understand becomes a
// JSON field. Schemas may be hostile, so depth, references and the number of fields have limits.

import type { Json } from "../../api/types";

export type Fields = { [key: string]: Json };

interface Common {
  title?: string;
  description?: string;
  /** Whether `null` is allowed, too. */
  nullable: boolean;
  /** The value that the schema suggests. */
  suggested?: Json;
}

export interface TextNode extends Common {
  kind: "text";
  min?: number;
  max?: number;
  pattern?: string;
  format?: string;
  multiline: boolean;
}

export interface NumberNode extends Common {
  kind: "number";
  integer: boolean;
  min?: number;
  max?: number;
  above?: number;
  below?: number;
  step?: number;
}

export interface BooleanNode extends Common {
  kind: "boolean";
}

export interface ChoiceNode extends Common {
  kind: "choice";
  choices: { label: string; value: Json }[];
}

export interface ConstantNode extends Common {
  kind: "constant";
  value: Json;
}

export interface ListNode extends Common {
  kind: "list";
  item: Node;
  min: number;
  max: number;
  unique: boolean;
}

export interface ObjectNode extends Common {
  kind: "object";
  fields: { name: string; node: Node; required: boolean }[];
}

export interface EitherNode extends Common {
  kind: "either";
  options: { label: string; node: Node }[];
}

export interface JsonNode extends Common {
  kind: "json";
  /** Why there are no fields for this part. */
  hint: string;
  /** Whether a text that is not JSON counts as text. */
  anything: boolean;
}

export type Node = TextNode | NumberNode | BooleanNode | ChoiceNode | ConstantNode | ListNode | ObjectNode | EitherNode | JsonNode;

const DEPTH_MAX = 7;
const NODES_MAX = 400;
const FIELDS_MAX = 100;
const OPTIONS_MAX = 30;
const HOPS_MAX = 12;
/** A list with more items is edited as JSON. */
export const ITEMS_MAX = 100;

/** The model of a schema; without a schema, a text of any length. */
export function modelOf(schema: Json | undefined): Node {
  if (schema === undefined) return { kind: "text", nullable: false, multiline: true };
  return new Builder(schema).node(schema, 0);
}

/** The own entries of an object; nothing for any other value. */
export function fieldsOf(value: Json | undefined): Fields | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
}

class Builder {
  private left = NODES_MAX;

  constructor(private readonly root: Json) {}

  node(given: Json, depth: number): Node {
    this.left -= 1;
    if (depth > DEPTH_MAX || this.left <= 0) return asJson({}, "This part is too deep for a form.");
    const schema = this.resolved(given);
    if (!schema) return { ...asJson({}, "This part can have any form."), anything: given === true };
    return this.combined(schema, depth) ?? this.plain(schema, depth);
  }

  /** The schema without references and `allOf`. */
  private resolved(given: Json): Fields | undefined {
    let schema = fieldsOf(given);
    for (let hops = 0; schema && typeof schema["$ref"] === "string"; hops += 1) {
      if (hops > HOPS_MAX) return undefined;
      const { $ref, ...rest } = schema;
      const target = fieldsOf(at(this.root, $ref));
      schema = target && { ...target, ...rest };
    }
    const parts = schema?.["allOf"];
    if (!schema || !Array.isArray(parts) || parts.length > OPTIONS_MAX) return schema;
    const { allOf: _, ...rest } = schema;
    return parts.reduce<Fields>((merged, part) => (this.left-- > 0 ? joined(this.resolved(part) ?? {}, merged) : merged), rest);
  }

  /** The node of a schema that lists its values or forms. */
  private combined(schema: Fields, depth: number): Node | undefined {
    if ("const" in schema) return { kind: "constant", value: schema["const"] as Json, ...common(schema) };
    if (Array.isArray(schema["enum"])) return choice(schema, schema["enum"].map(labelled));
    const word = Array.isArray(schema["oneOf"]) ? "oneOf" : "anyOf";
    const forms = schema[word];
    if (Array.isArray(forms) && forms.length > 0) {
      const { [word]: _, ...base } = schema;
      return this.forms(base, forms, depth);
    }
    const types = schema["type"];
    if (!Array.isArray(types)) return undefined;
    return this.forms({ ...schema, type: [] }, types.slice(0, OPTIONS_MAX).map((type) => ({ type })), depth);
  }

  private forms(base: Fields, forms: Json[], depth: number): Node | undefined {
    if (forms.length > OPTIONS_MAX) return asJson(base, "There are too many forms to choose from.");
    const known = forms.map((form) => this.resolved(form) ?? {});
    // Forms that only name required fields add nothing to show.
    if (!known.some(saysShape)) return undefined;
    const others = known.filter(({ type }) => type !== "null");
    const nullable = others.length < known.length;
    const { type, ...rest } = base;
    const shared = Array.isArray(type) || type === undefined ? rest : base;
    const wholes = others.map((form) => joined(form, shared));
    const only = wholes[0];
    if (only && wholes.length === 1) return { ...this.node(only, depth), ...(nullable ? { nullable } : {}) };
    if (others.every((form) => "const" in form || oneOf(form) !== undefined)) {
      return { ...choice(base, others.map(titled)), ...(nullable ? { nullable } : {}) };
    }
    const options = wholes.map((whole, n) => ({ label: labelOf(others[n] ?? whole, n), node: this.node(whole, depth + 1) }));
    return { kind: "either", options, ...common(base), nullable };
  }

  private plain(schema: Fields, depth: number): Node {
    switch (typeOf(schema)) {
      case "string":
        return text(schema);
      case "integer":
      case "number":
        return number(schema);
      case "boolean":
        return { kind: "boolean", ...common(schema) };
      case "null":
        return { kind: "constant", value: null, ...common(schema) };
      case "array":
        return this.list(schema, depth);
      case "object":
        return this.object(schema, depth);
      default:
        return { ...asJson(schema, "This can be any value: JSON, or text."), anything: true };
    }
  }

  private list(schema: Fields, depth: number): Node {
    const { items, prefixItems } = schema;
    if (!fieldsOf(items) || prefixItems !== undefined) return asJson(schema, "This is a list, as JSON: values in [ ], with commas.");
    const item = this.node(items as Json, depth + 1);
    const most = numeric(schema, "maxItems") ?? Infinity;
    return { kind: "list", item, min: numeric(schema, "minItems") ?? 0, max: most, unique: schema["uniqueItems"] === true, ...common(schema) };
  }

  private object(schema: Fields, depth: number): Node {
    const properties = Object.entries(fieldsOf(schema["properties"]) ?? {});
    if (properties.length === 0) return asJson(schema, "This is an object, as JSON: { \"name\": value }.");
    if (properties.length > FIELDS_MAX) return asJson(schema, `This object has ${properties.length} fields, too many for a form.`);
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    const fields = properties.map(([name, one]) => ({ name, node: this.node(one, depth + 1), required: required.includes(name) }));
    return { kind: "object", fields, ...common(schema) };
  }
}

/** The value at a local reference such as `#/$defs/name`. */
function at(root: Json, reference: Json): Json | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  let found: Json | undefined = root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const inside: Fields | undefined = Array.isArray(found) ? Object.fromEntries(found.entries()) : fieldsOf(found);
    found = inside && Object.hasOwn(inside, name) ? inside[name] : undefined;
  }
  return found;
}

/** Two schemas as one: the first wins, except that fields and required names of both count. */
function joined(first: Fields, second: Fields): Fields {
  const properties = { ...fieldsOf(second["properties"]), ...fieldsOf(first["properties"]) };
  const names = [first["required"], second["required"]].flatMap((names) => (Array.isArray(names) ? names : []));
  return {
    ...second,
    ...first,
    ...(Object.keys(properties).length ? { properties } : {}),
    ...(names.length ? { required: [...new Set(names)] } : {}),
  };
}

const SHAPES = ["type", "const", "enum", "properties", "items", "$ref", "oneOf", "anyOf", "allOf", "format", "pattern"];

function saysShape(schema: Fields): boolean {
  return SHAPES.some((word) => Object.hasOwn(schema, word));
}

const TELLTALES: readonly [string, string[]][] = [
  ["object", ["properties", "required", "additionalProperties"]],
  ["array", ["items", "minItems", "maxItems", "uniqueItems", "prefixItems"]],
  ["string", ["minLength", "maxLength", "pattern", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function typeOf(schema: Fields): string | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  return TELLTALES.find(([, words]) => words.some((word) => Object.hasOwn(schema, word)))?.[0];
}

function common(schema: Fields): Common {
  const { title, description, default: suggested } = schema;
  return {
    nullable: false,
    ...(typeof title === "string" && title ? { title } : {}),
    ...(typeof description === "string" && description ? { description } : {}),
    ...(suggested !== undefined ? { suggested } : {}),
  };
}

function asJson(schema: Fields, hint: string): JsonNode {
  return { kind: "json", hint, anything: false, ...common(schema) };
}

function numeric(schema: Fields, word: string): number | undefined {
  const value = schema[word];
  return typeof value === "number" ? value : undefined;
}

/** A text that is at most this long fits into one line. */
const LINE_MAX = 100;
const LONG_FORMATS = new Set(["markdown", "text", "textarea", "multiline"]);

function text(schema: Fields): TextNode {
  const { pattern, format } = schema;
  const [min, max] = [numeric(schema, "minLength"), numeric(schema, "maxLength")];
  const isLong = typeof format === "string" && LONG_FORMATS.has(format);
  const isShort = typeof format === "string" || typeof pattern === "string" || (max !== undefined && max <= LINE_MAX);
  return {
    kind: "text",
    multiline: isLong || !isShort,
    ...common(schema),
    ...(min !== undefined ? { min } : {}),
    ...(max !== undefined ? { max } : {}),
    ...(typeof pattern === "string" ? { pattern } : {}),
    ...(typeof format === "string" && !isLong ? { format } : {}),
  };
}

function number(schema: Fields): NumberNode {
  const limits = { min: "minimum", max: "maximum", above: "exclusiveMinimum", below: "exclusiveMaximum", step: "multipleOf" };
  const known = Object.entries(limits).flatMap(([name, word]) => {
    const value = numeric(schema, word);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { kind: "number", integer: schema["type"] === "integer", ...common(schema), ...Object.fromEntries(known) };
}

function choice(schema: Fields, all: { label: string; value: Json }[]): ChoiceNode {
  const choices = all.filter(({ value }) => value !== null);
  return { kind: "choice", choices, ...common(schema), nullable: choices.length < all.length };
}

const LABEL_MAX = 80;

function labelled(value: Json): { label: string; value: Json } {
  const label = typeof value === "string" ? value : JSON.stringify(value);
  return { label: label.length > LABEL_MAX ? `${label.slice(0, LABEL_MAX)}…` : label, value };
}

function oneOf(form: Fields): Json | undefined {
  const values = form["enum"];
  return Array.isArray(values) && values.length === 1 ? values[0] : undefined;
}

function titled(form: Fields): { label: string; value: Json } {
  const value = ("const" in form ? form["const"] : oneOf(form)) ?? null;
  const { title, description } = form;
  const known = typeof title === "string" ? title : typeof description === "string" ? description : undefined;
  return { ...labelled(value), ...(known ? { label: known } : {}) };
}

const TYPES: Record<string, string> = {
  string: "Text",
  integer: "Whole number",
  number: "Number",
  boolean: "Yes or no",
  array: "List",
  object: "Object",
};

/** What a form is called: its title, the constant that tells it apart, its type, or its fields. */
function labelOf(form: Fields, n: number): string {
  const { title, description } = form;
  if (typeof title === "string" && title) return title;
  const properties = Object.entries(fieldsOf(form["properties"]) ?? {});
  for (const [, property] of properties) {
    const value = fieldsOf(property)?.["const"];
    if (typeof value === "string") return value;
  }
  if (typeof description === "string" && description) return description;
  const names = properties.slice(0, 3).map(([name]) => name);
  if (names.length) return `With ${names.join(", ")}${properties.length > 3 ? ", …" : ""}`;
  const type = typeOf(form);
  return (type && TYPES[type]) ?? `Form ${n + 1}`;
}
