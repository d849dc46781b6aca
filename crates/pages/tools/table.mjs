// Prints the table of built files as Rust, and packs each file beside itself: node table.mjs dist
// The order is that of the names, and what is packed has no date in it: the same sources give the same binary.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";

const dist = process.argv[2];
const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".gz"))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const rust = JSON.stringify;
const line = (file) => {
  const plain = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(plain, { level: 9 }));
  const path = `/${relative(dist, file).split(sep).join("/")}`;
  return `    (${rust(path)}, include_bytes!(${rust(file)}), include_bytes!(${rust(`${file}.gz`)})),`;
};
console.log(`&[\n${files.map(line).join("\n")}\n]`);
