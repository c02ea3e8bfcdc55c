/** Later times would have more than four digits in some zones. */
const yearEnd = Date.parse('9999-01-01T00:00:00Z');

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** The Unix milliseconds of a query's time as in RFC 3339, from 1970 on; NaN for any other text. */
export const parseTime = (given: string): number => {
  // A plus sign that was not encoded arrives as a space.
  const text = given.replace(/ (?=\d\d:\d\d$)/, '+');
  const [, year, month, day] = rfc3339.exec(text) ?? [];
  if (year === undefined) return Number.NaN;
  const time = Date.parse(text.replace(' ', 'T').toUpperCase());
  // Date.parse takes the 30th of February for the 2nd of March.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return isDay && time >= 0 && time < yearEnd ? time : Number.NaN;
};
