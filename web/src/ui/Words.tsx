// A sentence of the server: what it quotes as code, and moments on the clock of whoever reads it.

import { moment } from "./format";

export function Words({ text }: { text: string }) {
  const parts = text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => moment(Date.parse(at))).split("`");
  return parts.map((part, at) => (at % 2 === 1 && at < parts.length - 1 ? <code key={at}>{part}</code> : part));
}
