import { styleText } from 'node:util';
import { escapeControls } from '../stdio.ts';

/** Characters between two columns. */
const gap = '  ';

/** The most characters of a column that is not the last one. */
const mostWide = 28;

/**
 * A table with a line for each row: columns are as wide as their texts, and on a terminal the last one is cut where the line
 * ends. `paint` colours a cell on a terminal, unless NO_COLOR is set.
 */
export const toTable = (
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  paint: (text: string) => string = (text) => text,
): string => {
  const last = titles.length - 1;
  const cells = rows.map((row) =>
    row.map((text, index) => shorten(escapeControls(text), index < last ? mostWide : Number.POSITIVE_INFINITY)),
  );
  const widths = titles.map((title, index) =>
    index === last ? 0 : Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const before = widths.reduce((sum, width) => sum + width + gap.length, 0) - gap.length;
  const left = process.stdout.isTTY ? Math.max(10, process.stdout.columns - before) : Number.POSITIVE_INFINITY;
  const isPainted = process.stdout.isTTY === true && !process.env['NO_COLOR'];
  const toLine = (row: readonly string[], isHead: boolean): string =>
    row
      .map((text, index) => {
        const fitted = index === last ? shorten(text, left) : text.padEnd(widths[index] ?? 0);
        return isPainted && !isHead ? paint(fitted) : fitted;
      })
      .join(gap)
      .trimEnd();
  return [toLine(titles, true), ...cells.map((row) => toLine(row, false)), ''].join('\n');
};

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;

/** Colours the name of a severity, in a column of its own. */
export const paintSeverity = (text: string): string => {
  const name = text.trim();
  if (name === 'CRITICAL') return styleText(['bold', 'magenta'], text);
  if (name === 'ERROR') return styleText('red', text);
  return name === 'WARNING' ? styleText('yellow', text) : text;
};

const units: [name: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
];

/** How long ago a time was: `3 h`. */
export const toRelativeTime = (time: string, now = Date.now()): string => {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
};

/** A time as clocks here show it: `2026-01-31 09:30:00`. */
export const toReadableTime = (time: string): string => {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ');
};
