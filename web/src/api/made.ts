// The types from the server's own description, as they are sent: an absent field is left out, never `null`.

import type { components } from "./generated";

type Schemas = components["schemas"];

/** The sent form of a type whose description uses `null` for absent fields. */
type Sent<T> = T extends (infer Item)[] ? Sent<Item>[] : T extends object ? { [Key in keyof T]: Sent<Exclude<T[Key], null>> } : T;

export type Made<Name extends keyof Schemas> = Sent<Schemas[Name]>;
