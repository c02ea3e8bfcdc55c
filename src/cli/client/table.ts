import { styleText } from 'node:util';
import { usualColumns } from '../progress.ts';
import { escapeControls } from '../stdio.ts';
import { toWidth, truncate } from './width.ts';

/** Characters between two columns. */
const gap = '  ';

/** The most characters of a column that is not the last one, and the least in a narrow terminal. */
const mostWide = 28;
const leastWide = 8;

/** The last column, which says the most, gets so many characters: others become narrower, or are left out. */
const lastWide = 24;

interface TableOptions {
  /** Colours a cell on a terminal, unless NO_COLOR is set. */
  paint?: (text: string) => string;
  /** Titles of the columns that a narrow terminal can do without, the first one first. */
  dropped?: readonly string[];
  /** Widths to begin with, by title, where rows will come that are not known yet. */
  usual?: Readonly<Record<string, number>>;
}

type Rows = readonly (readonly string[])[];

/** A table with a line for each row: columns are as wide as their texts, and every line fits the terminal. */
export const toTable = (titles: readonly string[], rows: Rows, options?: TableOptions): string => {
  const table = createTable(titles, options);
  const lines = table.toLines(rows);
  return table.toHead() + lines;
};

/** The same for rows that come one after the other: columns become wider if they have to, and never narrower. */
export const createTable = (
  titles: readonly string[],
  { paint = (text) => text, dropped = [], usual = {} }: TableOptions = {},
) => {
  const last = titles.length - 1;
  const natural = titles.map((title) => Math.max(title.length, usual[title] ?? 0));
  const isPainted = process.stdout.isTTY === true && !process.env['NO_COLOR'];
  const toLine = (row: readonly string[], widths: readonly number[], isHead: boolean): string =>
    widths
      .flatMap((width, index) => {
        if (width === 0) return [];
        const fitted = truncate(row[index] ?? '', width);
        const padded = index === last ? fitted : fitted + ' '.repeat(width - toWidth(fitted));
        return isPainted && !isHead ? paint(padded) : padded;
      })
      .join(gap)
      .trimEnd();
  const fit = (): number[] => fitWidths(titles, natural, dropped);
  return {
    toHead: (): string => `${toLine(titles, fit(), true)}\n`,
    toLines: (rows: Rows): string => {
      const cells = rows.map((row) => row.map(escapeControls));
      for (const row of cells) {
        for (const [index, text] of row.entries()) {
          const width = index < last ? Math.min(mostWide, toWidth(text)) : toWidth(text);
          natural[index] = Math.max(natural[index] ?? 0, width);
        }
      }
      const widths = fit();
      return cells.map((row) => `${toLine(row, widths, false)}\n`).join('');
    },
  };
};

/** How wide the columns are on this terminal; 0 for those that are left out. */
const fitWidths = (titles: readonly string[], natural: readonly number[], dropped: readonly string[]): number[] => {
  const { isTTY } = process.stdout;
  const columns = process.stdout.columns || usualColumns;
  const last = titles.length - 1;
  if (!isTTY) return [...natural.slice(0, last), Number.POSITIVE_INFINITY];
  const widths = [...natural];
  const wanted = Math.min(natural[last] ?? 0, lastWide);
  const countFree = (): number =>
    columns - widths.slice(0, last).reduce((sum, width) => sum + (width === 0 ? 0 : width + gap.length), 0);
  for (const title of dropped) {
    const least = widths.slice(0, last).reduce((sum, width) => sum + Math.max(0, width - leastWide), 0);
    if (countFree() + least < wanted) widths[titles.indexOf(title)] = 0;
  }
  while (countFree() < wanted) {
    const widest = Math.max(...widths.slice(0, last));
    if (widest <= leastWide) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  widths[last] = Math.max(1, countFree());
  return widths;
};

/** Colours the name of a severity, in a column of its own. */
export const paintSeverity = (text: string): string => {
  const name = text.trim();
  if (name === 'CRITICAL') return styleText(['bold', 'magenta'], text);
  if (name === 'ERROR') return styleText('red', text);
  if (name === 'resolved') return styleText('green', text);
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

/** A text of several lines as one. */
export const toOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
