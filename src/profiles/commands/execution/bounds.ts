import type { CommandOutput, Row } from './runner.ts';

export const maxRows = 5000;
export const maxBytes = 8 * 1024 * 1024;

export interface BoundedResult {
  /** Each object as JSON. */
  rows: string[];
  truncated: boolean;
}

const results = new WeakMap<readonly Row[], BoundedResult>();

/** The objects as JSON, up to 5,000 objects and 8 MiB. A list that several requests share is converted once. */
export const toBoundedResult = (output: CommandOutput): BoundedResult => {
  const result = results.get(output.rows) ?? writeRows(output);
  results.set(output.rows, result);
  return result;
};

const writeRows = ({ rows, truncated }: CommandOutput): BoundedResult => {
  const texts: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, maxRows)) {
    const text = JSON.stringify(row);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxBytes) break;
    texts.push(text);
  }
  return { rows: texts, truncated: truncated || texts.length < rows.length };
};
