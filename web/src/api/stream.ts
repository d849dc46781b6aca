// Listening to the server.
//
// A browser reconnects by itself after a break, and sends the last id it saw. It gives up when it gets an answer that is no
// stream, which is what a server that is just starting gives; then a new connection is made from where the page is.
//
// A page that nobody sees is not connected: browsers allow six connections to a server, and people leave many tabs open.

/** How the connection is. */
export type Connection = "open" | "lost";

export interface Listener {
  /** Where to connect; asked each time, since the page has moved on. */
  url: () => string;
  /** What is done about each kind of event. */
  on: Record<string, (data: unknown) => void>;
  changed: (connection: Connection) => void;
}

const AGAIN_MS = 1_000;

/** Listens until the returned function is called. */
export function listen(listener: Listener): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const connect = () => {
    source = new EventSource(listener.url());
    source.onopen = () => listener.changed("open");
    source.onerror = () => {
      listener.changed("lost");
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(connect, AGAIN_MS);
    };
    for (const [name, take] of Object.entries(listener.on)) {
      source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data)));
    }
  };
  const disconnect = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const follow = () => {
    disconnect();
    if (!document.hidden) connect();
  };
  follow();
  document.addEventListener("visibilitychange", follow);
  return () => {
    document.removeEventListener("visibilitychange", follow);
    disconnect();
  };
}
