// Listens to the event stream of the server.
//
// A browser reconnects by itself after a break, and sends the last id that it saw. It gives up if the answer is not a stream,
// which happens while a server starts. Then this code makes a new connection from the current position of the page.
//
// A hidden page is not connected: browsers allow six connections to a server, and people leave many tabs open.

/** The state of the connection. */
export type Connection = "open" | "lost";

export interface Listener {
  /** The address; computed for each connection, because the position changes. */
  url: () => string;
  /** The handler for each kind of event. */
  on: Record<string, (data: unknown) => void>;
  changed: (connection: Connection) => void;
  /** Whether to stay connected while the page is hidden. */
  whenHidden?: () => boolean;
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
    if (document.hidden && listener.whenHidden?.()) return;
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
