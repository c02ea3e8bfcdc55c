/** First characters for which spreadsheets take a text for a formula, wide forms included. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Rows as CSV (RFC 4180), each with its line break. A text that a spreadsheet would take for a formula gets a leading
 * apostrophe, and one with a separator of other spreadsheets is quoted, so that no part of it becomes a cell.
 */
export const toCsv = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');

const toCell = (value: unknown): string => {
  const written =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  const safe = typeof value !== 'number' && formula.test(written) ? `'${written}` : written;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
