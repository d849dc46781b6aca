// A sentence of the server: shows quoted words as code, and times in the reader's time zone.

import { inTimeZone } from "./format";

export function Words({ text }: { text: string }) {
  const parts = inTimeZone(text).split("`");
  return parts.map((part, at) => (at % 2 === 1 && at < parts.length - 1 ? <code key={at}>{part}</code> : part));
}
