/** Period in which no ping could be received. Times are Unix milliseconds. */
export interface Outage {
  from: number;
  to: number;
}

/** Cuts outages off at `now`. Used after the clock was set back. */
export const clampOutages = (outages: readonly Outage[], now: number): Outage[] =>
  outages.filter(({ from }) => from < now).map(({ from, to }) => ({ from, to: Math.min(to, now) }));
