// The hub in a shared worker: one for all tabs of the same version of the pages.

import { Hub } from "./hub";
import type { FromHub, FromTab } from "./messages";
import { browser } from "./source";

const hub = new Hub(browser);

addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  if (!port) return;
  const send = (message: FromHub) => port.postMessage(message);
  if (typeof EventSource === "undefined") return send({ kind: "unable" });
  port.onmessage = (message: MessageEvent<FromTab>) => hub.take(message.data, send);
});
