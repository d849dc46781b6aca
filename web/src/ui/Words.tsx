// A sentence of the server: shows quoted words as code, and times in the reader's time zone.

import { moment } from "./format";

export function Words({ text }: { text: string }) {
  const parts = text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => moment(Date.parse(at))).split("`");
  return parts.map((part, at) => (at % 2 === 1 && at < parts.length - 1 ? <code key={at}>{part}</code> : part));
}
