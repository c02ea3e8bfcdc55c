/** Parses the seconds in a `Retry-After`, which may be a date if set by a proxy; undefined for other text. */
export const parseRetryAfter = (text: string | null | undefined, now = Date.now()): number | undefined => {
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
};
