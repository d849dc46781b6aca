// The types that the server's own description gives, as they are sent: what is absent is left out, never `null`.

import type { components } from "./generated";

type Schemas = components["schemas"];

/** What is sent of a shape that is described with `null` for what is left out. */
type Sent<T> = T extends (infer Item)[] ? Sent<Item>[] : T extends object ? { [Key in keyof T]: Sent<Exclude<T[Key], null>> } : T;

export type Made<Name extends keyof Schemas> = Sent<Schemas[Name]>;
