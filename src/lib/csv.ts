/**
 * Characters at the start of a string that make spreadsheets treat the string as a formula. Includes full-width
 * characters.
 */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Returns rows as CSV (RFC 4180), each ending in a line break. A string that spreadsheets would treat as a formula gets
 * a leading apostrophe. A string that contains a separator of other spreadsheets is quoted, so that no part of it
 * becomes a cell.
 */
export const toCsv = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');

const toCell = (value: unknown): string => {
  const written =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  const safe = typeof value !== 'number' && formula.test(written) ? `'${written}` : written;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
