// A whole hosted workflow by the official client for TypeScript.
//
// client.mjs FOLDER MODE pipes PROGRAM ARGS…   or   client.mjs FOLDER MODE http URL TOKEN
//
// MODE: `plain`, or `asked` with a person behind it.

import assert from "node:assert";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, mode, way, ...rest] = process.argv.slice(2);
const load = (file) =>
  import(pathToFileURL(path.resolve(folder, "node_modules/@modelcontextprotocol/sdk/dist/esm", file)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { ElicitRequestSchema } = await load("types.js");

const asked = mode === "asked";
const client = new Client({ name: "typescript", version: "1" }, { capabilities: asked ? { elicitation: {} } : {} });
if (asked) {
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: "accept",
    content: { decision: "edit", value: "a better plan" },
  }));
}
const transport =
  way === "pipes"
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env })
    : new StreamableHTTPClientTransport(new URL(rest[0]), {
        requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } },
      });
await client.connect(transport);

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  assert(!result.isError, JSON.stringify(result));
  return result.structuredContent;
};

const { tools } = await client.listTools();
assert(tools.some((tool) => tool.name === "submit"));
let picture = await call("start", { workflow: "relay", task: "a house" });
const run = picture.run;
for (;;) {
  const step = picture.ready[0];
  if (step) {
    if (asked && step.step === "build") assert(step.prompt.startsWith("Build a better plan in 7 lines"), step.prompt);
    picture = await call("submit", { run, step: step.path, attempt: step.attempt, output: "done" });
  } else if (picture.status === "awaiting-approval") {
    assert(!asked, JSON.stringify(picture));
    picture = await call("answer", { run, decision: "approve" });
  } else break;
}
assert.equal((await call("output", { run, step: "built" })).value, "done");
const resource = await client.readResource({ uri: `longhaul://run/${run}/output/built` });
assert.equal(resource.contents[0].text, "done");
await client.close();
console.log(picture.status);
