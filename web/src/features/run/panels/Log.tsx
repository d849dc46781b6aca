// All events, one line each.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Envelope } from "../../../api/events";
import { clock, count } from "../../../ui/format";
import styles from "../run.module.css";
import { story } from "../state/story";
import { useWatched } from "../state/useRun";

export function Log() {
  const store = useWatched();
  const [text, search] = useState("");
  useEffect(() => void store.readHistory(), [store]);
  const wanted = text.toLowerCase();
  const events = wanted ? store.history.filter((event) => story(event).toLowerCase().includes(wanted)) : store.history;
  return (
    <div className={styles.log}>
      <div className={styles.logBar}>
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          value={text}
          onChange={(event) => search(event.target.value)}
        />
        <span className="quiet">{count(events.length, "event")}</span>
      </div>
      <Lines events={events} />
    </div>
  );
}

function Lines({ events }: { events: Envelope[] }) {
  const element = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const found = element.current ? element.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(found - top) > 1) setTop(found);
  });
  const virtual = useWindowVirtualizer({ count: events.length, estimateSize: () => 23, overscan: 20, scrollMargin: top });
  return (
    <div ref={element} role="log" aria-label="Events" aria-live="off" className={styles.lines} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const event = events[item.index];
        return (
          event && (
            <p
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className={styles.event}
              data-event={event.event}
              style={{ transform: `translateY(${item.start - top}px)` }}
            >
              <span className="quiet">{event.seq}</span>
              <span className="quiet">{clock(event.at)}</span>
              <span className={styles.words}>{story(event)}</span>
            </p>
          )
        );
      })}
    </div>
  );
}
