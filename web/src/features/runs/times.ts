// The filter for time, in the address of the page: a word for the recent past, or days.

export const TIMES = { hour: "last hour", day: "last 24 hours", week: "last 7 days", month: "last 30 days" } as const;
export type Time = keyof typeof TIMES;

const HOUR = 3_600_000;
const LENGTH: Record<Time, number> = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR, month: 720 * HOUR };
/** The start of the recent past moves in steps, so that the same list is not asked for again each second. */
const STEP: Record<Time, number> = { hour: 60_000, day: HOUR / 4, week: HOUR, month: HOUR };

export interface Days {
  time?: Time;
  /** Days as `2026-11-16`, in the reader's time zone. */
  from?: string;
  to?: string;
}

export function isDay(text: unknown): text is string {
  return typeof text === "string" && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** The moments between which runs must have started. */
export function moments({ time, from, to }: Days, now: number): { since?: number; until?: number } {
  if (time) return { since: Math.floor((now - LENGTH[time]) / STEP[time]) * STEP[time] };
  const start = from === undefined ? {} : { since: midnight(from, 0) };
  return { ...start, ...(to === undefined ? {} : { until: midnight(to, 1) }) };
}

/** The start of a day, or of one some days later; a day may have 23 or 25 hours. */
function midnight(day: string, later: number): number {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).getTime();
}
