import { describe, expect, it } from "vitest";
import type { Json } from "../../api/types";
import { isHarmless } from "./check";
import { type Draft, type Errors, draftOf, type ObjectDraft, placed, read } from "./draft";
import { moved } from "./List";
import { modelOf, type Node, type NumberNode } from "./model";
import { stepped } from "./Scalar";

/** What a form asks for, one line per field. */
function shown(node: Node, name = "", depth = 0): string[] {
  const { kind, nullable } = node;
  const line = `${"  ".repeat(depth)}${name}${name && ": "}${kind}${nullable ? "?" : ""}`;
  const inside = (node: Node, name: string) => shown(node, name, depth + 1);
  if (node.kind === "object") return [line, ...node.fields.flatMap(({ name, node, required }) => inside(node, `${name}${required ? "" : " (optional)"}`))];
  if (node.kind === "list") return [line, ...inside(node.item, "item")];
  if (node.kind === "either") return [line, ...node.options.flatMap(({ label, node }) => inside(node, label))];
  if (node.kind === "choice") return [`${line} ${node.choices.map(({ label }) => label).join("|")}`];
  return [line];
}

const model = (schema: Json | undefined) => shown(modelOf(schema)).join("\n");
/** The value that a form has at the start, and its errors. */
const value = (schema: Json, given?: Json) => {
  const node = modelOf(schema);
  const { value, errors } = read(node, draftOf(node, given, true));
  return { value, errors: Object.fromEntries(errors) };
};
/** The error of a typed text. */
const typed = (schema: Json, text: string) => {
  const node = modelOf(schema);
  const { value, errors } = read(node, { is: "text", text });
  return errors.get("") ?? value;
};

describe("the model of a form", () => {
  it("has a field for each type", () => {
    const schema: Json = {
      type: "object",
      required: ["name", "port"],
      properties: {
        name: { type: "string", maxLength: 20 },
        port: { type: "integer" },
        ratio: { type: "number" },
        dry: { type: "boolean" },
        size: { enum: ["small", "large", null] },
        kind: { const: "service" },
        tags: { type: "array", items: { type: "string" } },
        parts: { type: "array", items: { type: "object", properties: { title: { type: "string" } } } },
        owner: { type: "object", properties: { mail: { type: ["string", "null"], format: "email" } } },
        target: { oneOf: [{ title: "A host", type: "string" }, { type: "object", properties: { url: { type: "string" } } }] },
        when: { anyOf: [{ type: "string", format: "date" }, { type: "null" }] },
        level: { oneOf: [{ const: 1, title: "Low" }, { const: 2, title: "High" }] },
        mixed: { type: ["integer", "string"] },
        rest: { type: "object", additionalProperties: { type: "string" } },
        pair: { type: "array", prefixItems: [{ type: "string" }] },
        free: {},
      },
    };
    expect(model(schema)).toBe(`object
  name: text
  port: number
  ratio (optional): number
  dry (optional): boolean
  size (optional): choice? small|large
  kind (optional): constant
  tags (optional): list
    item: text
  parts (optional): list
    item: object
      title (optional): text
  owner (optional): object
    mail (optional): text?
  target (optional): either
    A host: text
    With url: object
      url (optional): text
  when (optional): text?
  level (optional): choice Low|High
  mixed (optional): either
    Whole number: number
    Text: text
  rest (optional): json
  pair (optional): json
  free (optional): json`);
    expect(model(undefined)).toBe("text");
    expect(model(true)).toBe("json");
  });

  it("follows references and joins what allOf says", () => {
    const schema: Json = {
      $defs: { name: { type: "string" }, base: { type: "object", required: ["a"], properties: { a: { $ref: "#/$defs/name" } } } },
      allOf: [{ $ref: "#/$defs/base" }, { properties: { b: { type: "integer" } } }],
    };
    expect(model(schema)).toBe("object\n  a: text\n  b (optional): number");
    expect(model({ $ref: "https://example.com/schema" })).toBe("json");
  });

  it("reads an object whose forms only say what is required", () => {
    expect(model({ type: "object", properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] })).toBe(
      "object\n  a (optional): text",
    );
  });

  it("shares fields between the forms of an object", () => {
    const schema: Json = {
      type: "object",
      properties: { name: { type: "string" } },
      oneOf: [{ properties: { by: { const: "mail" }, mail: { type: "string" } } }, { properties: { by: { const: "phone" }, phone: { type: "string" } } }],
    };
    expect(model(schema)).toContain("mail: object\n    name (optional): text\n    by (optional): constant\n    mail (optional): text");
  });
});

describe("hostile schemas", () => {
  it("end: references in circles, depth, width", () => {
    const circle: Json = { $defs: { a: { type: "object", properties: { left: { $ref: "#/$defs/a" }, right: { $ref: "#/$defs/a" } } } }, $ref: "#/$defs/a" };
    expect(model(circle).split("\n").length).toBeLessThan(1_000);
    expect(model({ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" })).toBe("json");
    let deep: Json = { type: "string" };
    for (let n = 0; n < 5_000; n += 1) deep = { type: "object", properties: { a: deep } };
    expect(model(deep)).toContain("json");
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, { type: "string" }]));
    expect(model({ type: "object", properties: wide })).toBe("json");
    let all: Json = { type: "string" };
    for (let n = 0; n < 30; n += 1) all = { allOf: [all, all] };
    expect(model(all).length).toBeGreaterThan(0);
  });

  it("have fields with the names of objects' insides", () => {
    const schema = JSON.parse('{"type":"object","required":["__proto__","constructor"],"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"string"}}}') as Json;
    const given = JSON.parse('{"__proto__":"p","constructor":"c","hasOwnProperty":1}') as Json;
    expect(model(schema)).toBe("object\n  __proto__: text\n  constructor: text\n  toString (optional): text");
    expect(JSON.stringify(value(schema, given).value)).toBe('{"__proto__":"p","constructor":"c","hasOwnProperty":1}');
    expect(value(schema).errors).toEqual({ "/__proto__": "This is required.", "/constructor": "This is required." });
    expect(({} as Record<string, unknown>)["p"]).toBeUndefined();
  });

  it("have patterns that would hang the page, which the server tries instead", () => {
    expect([isHarmless("^v\\d+$", "v1"), isHarmless("(a+)+$", "aaaa"), isHarmless("a*b*c*d*", "a"), isHarmless("^a$", "x".repeat(1_000))]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(typed({ type: "string", pattern: "(a+)+$" }, `${"a".repeat(60)}!`)).toBe(`${"a".repeat(60)}!`);
    expect(typed({ type: "string", pattern: "[" }, "x")).toBe("x");
  });
});

describe("what is typed", () => {
  it("becomes a value, or a sentence", () => {
    expect(typed({ type: "integer", minimum: 1, maximum: 65535 }, "70000")).toBe("This must be at most 65535.");
    expect(typed({ type: "integer" }, "1.5")).toBe("This must be a whole number.");
    expect(typed({ type: "integer" }, "1e3")).toBe(1000);
    expect(typed({ type: "integer" }, "12345678901234567890")).toBe("This number has too many digits for a browser.");
    expect(typed({ type: "number", exclusiveMinimum: 0 }, "0")).toBe("This must be more than 0.");
    expect(typed({ type: "number", multipleOf: 0.1 }, "0.3")).toBe(0.3);
    expect(typed({ type: "number", multipleOf: 0.1 }, "0.35")).toBe("This must be a multiple of 0.1.");
    expect(typed({ type: "string", minLength: 3 }, "👍👍")).toBe("This must have at least 3 characters.");
    expect(typed({ type: "string", pattern: "^v" }, "1")).toBe("This must match the pattern ^v");
    expect(typed({ type: "string", format: "email" }, "kim")).toBe("This must look like name@example.com.");
    expect(typed({ type: "string", format: "hostname" }, "any")).toBe("any");
    expect(typed({ enum: ["a", 1] }, "1")).toBe(1);
    expect(typed({ type: "object" }, "{")).toMatch(/^This must be JSON/);
    expect(typed({}, "just text")).toBe("just text");
    expect(typed({}, "[1]")).toEqual([1]);
  });

  it("may be left out where it is optional, and is null where that is allowed", () => {
    const schema: Json = { type: "object", required: ["a", "b"], properties: { a: { type: "string" }, b: { type: ["string", "null"] }, c: { type: "string" } } };
    expect(value(schema)).toEqual({ value: { b: null }, errors: { "/a": "This is required." } });
    expect(value(schema, { a: "", b: "x", c: "" })).toEqual({ value: { a: "", b: "x", c: "" }, errors: {} });
  });

  it("starts with what the schema suggests", () => {
    const schema: Json = { type: "object", properties: { n: { type: "integer", default: 3 }, on: { type: "boolean", default: false }, list: { type: "array", items: { type: "string" }, default: ["a"] } } };
    expect(value(schema).value).toEqual({ n: 3, on: false, list: ["a"] });
  });
});

describe("a value under review", () => {
  const schema: Json = {
    type: "object",
    properties: {
      tasks: { type: "array", minItems: 1, items: { type: "object", required: ["title"], properties: { title: { type: "string" } } } },
      to: { oneOf: [{ type: "object", required: ["by"], properties: { by: { const: "mail" }, mail: { type: "string" } } }, { type: "object", required: ["by"], properties: { by: { const: "phone" }, phone: { type: "string" } } }] },
    },
  };

  it("comes back as it was, with fields that the form does not have", () => {
    const given: Json = { tasks: [{ title: "a", extra: { b: [1] } }], to: { by: "phone", phone: "1" }, more: null };
    expect(value(schema, given)).toEqual({ value: given, errors: {} });
  });

  it("gets nothing that it did not have, and a new value gets it", () => {
    const schema: Json = { type: "object", properties: { kind: { const: "x" }, n: { type: "integer", default: 1 }, m: { type: "integer" } } };
    expect(value(schema, { m: 2 }).value).toEqual({ m: 2 });
    expect(value(schema).value).toEqual({ kind: "x", n: 1 });
  });

  it("keeps a part that does not fit as JSON", () => {
    const node = modelOf(schema);
    const draft = draftOf(node, { tasks: "none" }, true) as ObjectDraft;
    expect(draft.fields.get("tasks")).toEqual({ is: "raw", text: '"none"' });
    expect(read(node, draft).value).toEqual({ tasks: "none" });
  });

  it("says where something is wrong", () => {
    expect(value(schema, { tasks: [] }).errors).toEqual({ "/tasks": "There must be at least 1 item." });
    expect(value(schema, { tasks: [{ title: "a" }, {}] }).errors).toEqual({ "/tasks/1/title": "This is required." });
  });

  it("has a place for every error of the server", () => {
    const node = modelOf({ type: "object", properties: { a: { type: "object" }, "b/c": { type: "string" } } });
    const draft: Draft = draftOf(node, { a: { x: [1] } }, true);
    const errors: Errors = new Map([
      ["/a/x/0", "This must be text."],
      ["/b~1c", "This is required."],
      ["/unknown", "There must be no field `unknown`."],
    ]);
    expect(Object.fromEntries(placed(node, draft, errors))).toEqual({
      "/a": "x.0: This must be text.",
      "/b~1c": "This is required.",
      "": "unknown: There must be no field `unknown`.",
    });
  });
});

describe("keys and buttons", () => {
  it("step a number within its limits", () => {
    const port = modelOf({ type: "integer", minimum: 1, maximum: 3 }) as NumberNode;
    expect([stepped(port, "", 1), stepped(port, "3", 1), stepped(port, "1", -1), stepped(port, "x", 1), stepped(port, "2", -1)]).toEqual(["1", "3", "1", "1", "1"]);
    expect(stepped(modelOf({ type: "number", multipleOf: 0.1 }) as NumberNode, "0.2", 1)).toBe("0.3");
  });

  it("move an item of a list", () => {
    expect([moved(["a", "b", "c"], 2, -1), moved(["a", "b", "c"], 0, 1)]).toEqual([
      ["a", "c", "b"],
      ["b", "a", "c"],
    ]);
  });
});
