// Whether a folder of packages has what the lock file says: node right.mjs package-lock.json node_modules
// Packages that only tests need are not looked for, nor are those for other systems. npm notes in the folder what
// it put there.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const [lock, folder] = process.argv.slice(2);
const packages = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return {};
  }
};
const have = packages(join(folder, ".package-lock.json"));
const wrong = Object.entries(packages(lock)).filter(([name, wanted]) => {
  const found = have[name];
  const needed = name !== "" && !wanted.dev && !wanted.devOptional && !wanted.optional;
  return found ? found.integrity !== wanted.integrity : needed;
});
process.exit(wrong.length === 0 ? 0 : 1);
