// Makes src/api/generated.ts from the OpenAPI document of the binary, or holds it to that: node types/make.mjs [--check]
//
// Only what is sent is made, not the table of routes: requests are a few lines in src/api/client.ts.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapi, { astToString } from "openapi-typescript";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const binary = process.env.LONGHAUL ?? at("../../target/debug/longhaul");
const file = at("../src/api/generated.ts");
const document = JSON.parse(execFileSync(binary, ["schema", "--openapi"], { maxBuffer: 1 << 26 }));
const types = astToString(await openapi({ ...document, paths: {} }, { alphabetize: true, silent: true }));
const text = `// Made from the OpenAPI document by types/make.mjs; not to be edited.\n\n${types.slice(types.indexOf("export interface components"), types.indexOf("export type $defs"))}`;

if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("src/api/generated.ts is not what the binary says: node types/make.mjs writes it anew");
  process.exit(1);
}
