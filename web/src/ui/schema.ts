// Turns typed text into the value that a schema asks for. The server decides in the end; this only helps.

import type { Json } from "../api/types";

export type FieldKind = "choice" | "boolean" | "number" | "text" | "json";

type Schema = { [key: string]: Json };

export function asSchema(schema: Json | undefined): Schema {
  return schema !== null && typeof schema === "object" && !Array.isArray(schema) ? schema : {};
}

export function fieldKind(schema: Json | undefined): FieldKind {
  const { enum: choices, type } = asSchema(schema);
  if (Array.isArray(choices)) return "choice";
  if (type === "boolean") return "boolean";
  if (type === "integer" || type === "number") return "number";
  return type === "string" || schema === undefined ? "text" : "json";
}

export function choicesOf(schema: Json | undefined): string[] {
  const choices = asSchema(schema)["enum"];
  return Array.isArray(choices) ? choices.map(written) : [];
}

/** A value as text for a field. */
export function written(value: Json | undefined): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The value of a typed text, or the error in it. */
export function typed(schema: Json | undefined, text: string): { value: Json } | { wrong: string } {
  switch (fieldKind(schema)) {
    case "text":
      return { value: text };
    case "boolean":
      return { value: text === "true" };
    case "choice":
      return { value: (asSchema(schema)["enum"] as Json[]).find((choice) => written(choice) === text) ?? text };
    case "number":
      return number(schema, text);
    case "json":
      return json(text, Object.keys(asSchema(schema)).length === 0);
  }
}

function number(schema: Json | undefined, text: string): { value: Json } | { wrong: string } {
  const { type, minimum, maximum } = asSchema(schema);
  const value = Number(text.trim() || "?");
  if (Number.isNaN(value)) return { wrong: "This should be a number." };
  if (type === "integer" && !Number.isInteger(value)) return { wrong: "This should be a whole number." };
  if (typeof minimum === "number" && value < minimum) return { wrong: `This should be at least ${minimum}.` };
  if (typeof maximum === "number" && value > maximum) return { wrong: `This should be at most ${maximum}.` };
  return { value };
}

/** Without a schema every value is allowed: a text that is not JSON is text. */
function json(text: string, anything: boolean): { value: Json } | { wrong: string } {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return anything ? { value: text } : { wrong: "This should be JSON: text in double quotes, lists in [ ], objects in { }." };
  }
}
