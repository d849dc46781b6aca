// The surroundings of a hub in a browser.

import type { Handlers, Source, Surroundings } from "./hub";

const NAMES = ["about", "journal", "live", "gone", "run", "questions"];

function open(url: string, { opened, broke, event }: Handlers): Source {
  const source = new EventSource(url);
  source.onopen = opened;
  // A browser would connect again by itself, but to the old position.
  source.onerror = () => {
    source.close();
    broke();
  };
  for (const name of NAMES) {
    source.addEventListener(name, (message) => event(name, JSON.parse((message as MessageEvent<string>).data)));
  }
  return source;
}

export const browser: Surroundings = {
  open,
  now: () => Date.now(),
  later: (ms, what) => void setTimeout(what, ms),
};
