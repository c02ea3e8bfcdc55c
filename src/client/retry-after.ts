/** Parses the seconds in a `Retry-After` header. Undefined for other text, such as a date set by a proxy. */
export const parseRetryAfter = (text: string | null | undefined, now = Date.now()): number | undefined => {
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
};
