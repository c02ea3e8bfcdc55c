/** Rows as CSV (RFC 4180). A cell that a spreadsheet would take for a formula gets a leading apostrophe. */
export const toCsv = (header: string[], rows: unknown[][]): string =>
  [header, ...rows].map((row) => row.map(toCell).join(',')).join('\r\n');

const toCell = (value: unknown): string => {
  const written =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  const isNumber = typeof value === 'number';
  const safe = !isNumber && /^[=+\-@\t\r]/.test(written) ? `'${written}` : written;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Offers text as a file. */
export const download = (name: string, type: string, content: string): void => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
