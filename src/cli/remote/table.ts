import { styleText } from 'node:util';
import { toLocalTimestamp } from '../../lib/local-time.ts';
import { usualColumns } from '../progress.ts';
import { escapeControls } from '../stdio.ts';

/** Characters between two columns. */
const gap = '  ';

/**
 * Widths of all columns except the last. The first is the maximum unless there is room for more. The second is the
 * minimum in a narrow terminal.
 */
const maxWidth = 28;
const minWidth = 8;

/**
 * Widths of the last column, which is the most informative. Other columns shrink until it has `lastWide`, and are
 * omitted until it has `minLastWidth`.
 */
const lastWide = 36;
const minLastWidth = 24;

interface TableOptions {
  /** Colours a cell on a terminal, unless NO_COLOR is set. */
  paint?: (text: string) => string;
  /** Titles of columns to omit in a narrow terminal, in this order. */
  dropped?: readonly string[];
  /** Titles of columns that are useless when cut, such as times. */
  fixed?: readonly string[];
  /** Initial widths by title. They must fit rows that arrive later. */
  usual?: Readonly<Record<string, number>>;
}

type Rows = readonly (readonly string[])[];

/**
 * Formats a table with one line per row. Columns are as wide as their texts, unless a line would exceed the terminal.
 */
export const toTable = (titles: readonly string[], rows: Rows, options?: TableOptions): string =>
  createTable(titles, options)(rows);

/**
 * Creates a table for rows that arrive one at a time. The first text begins with the titles. Columns widen as needed
 * and never get narrower.
 */
export const createTable = (
  titles: readonly string[],
  { paint = (text) => text, dropped = [], fixed = [], usual = {} }: TableOptions = {},
): ((rows: Rows) => string) => {
  const last = titles.length - 1;
  const natural = titles.map((title) => Math.max(title.length, usual[title] ?? 0));
  let head: readonly string[] | undefined = titles;
  const toLine = (row: readonly string[], widths: readonly number[], isHead: boolean): string =>
    widths
      .flatMap((width, index) => {
        if (width === 0) return [];
        const fitted = fitText(row[index] ?? '', width);
        const padded = index === last ? fitted : fitted + ' '.repeat(width - toWidth(fitted));
        return isHead || !isPainted() ? padded : paint(padded);
      })
      .join(gap)
      .trimEnd();
  return (rows) => {
    const cells = rows.map((row) => row.map(escapeControls));
    for (const row of cells) {
      for (const [index, text] of row.entries()) natural[index] = Math.max(natural[index] ?? 0, toWidth(text));
    }
    const widths = fitWidths(titles, natural, { dropped, fixed });
    const lines = [...(head ? [toLine(head, widths, true)] : []), ...cells.map((row) => toLine(row, widths, false))];
    head = undefined;
    return lines.map((line) => `${line}\n`).join('');
  };
};

/** True if this terminal gets coloured text. */
export const isPainted = (): boolean => process.stdout.isTTY === true && !process.env['NO_COLOR'];

/** Returns the column widths for this terminal. Omitted columns have the width 0. */
const fitWidths = (
  titles: readonly string[],
  natural: readonly number[],
  { dropped, fixed }: Required<Pick<TableOptions, 'dropped' | 'fixed'>>,
): number[] => {
  const { isTTY } = process.stdout;
  const columns = process.stdout.columns || usualColumns;
  const others = titles.slice(0, -1);
  const widths = natural.slice(0, -1).map((width) => Math.min(width, maxWidth));
  const isFixed = (index: number): boolean => fixed.includes(titles[index] ?? '');
  if (!isTTY) return [...widths, Number.POSITIVE_INFINITY];
  const whole = natural[others.length] ?? 0;
  const wanted = Math.min(whole, lastWide);
  const countFree = (): number =>
    columns - widths.reduce((sum, width) => sum + (width === 0 ? 0 : width + gap.length), 0);
  const countSpare = (): number =>
    widths.reduce((sum, width, index) => sum + (isFixed(index) ? 0 : Math.max(0, width - minWidth)), 0);
  for (const title of dropped) {
    if (countFree() + countSpare() < Math.min(whole, minLastWidth)) widths[titles.indexOf(title)] = 0;
  }
  while (countFree() < wanted) {
    const widest = Math.max(...widths.filter((_, index) => !isFixed(index)));
    if (widest <= minWidth) break;
    widths[widths.findIndex((width, index) => width === widest && !isFixed(index))] = widest - 1;
  }
  for (const [index, width] of widths.entries()) {
    const more = Math.min((natural[index] ?? 0) - width, countFree() - whole);
    if (width > 0 && more > 0) widths[index] = width + more;
  }
  return [...widths, Math.max(1, countFree())];
};

let segmenter: Intl.Segmenter | undefined;

/**
 * Splits a string into user-perceived characters. The segmenter is created on demand, because most strings are plain
 * ASCII.
 */
const listCharacters = (text: string): string[] => {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
};

/** Characters that terminals show in two columns: East Asian wide characters, and emoji. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f)/u;

const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Returns the number of terminal columns that a string without control characters takes up. */
export const toWidth = (text: string): number =>
  isPlain(text) ? text.length : listCharacters(text).reduce((sum, each) => sum + toCharacterWidth(each), 0);

const toCharacterWidth = (character: string): number => (wide.test(character) ? 2 : 1);

/** Cuts the text to a maximum number of columns. `…` replaces the removed part. */
export const fitText = (text: string, columns: number): string => {
  // A character takes at most two code units per column, unless it is a sequence.
  if (columns === Number.POSITIVE_INFINITY || toWidth(text) <= columns) return text;
  let shown = '';
  let width = 0;
  for (const character of listCharacters(text)) {
    width += toCharacterWidth(character);
    if (width > columns - 1) break;
    shown += character;
  }
  return `${shown}…`;
};

/** Colours a severity that is padded to its column. */
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

/** Returns the time elapsed: `3 h`. */
export const toRelativeTime = (time: string): string => {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
};

/** Formats a time in local time: `2026-01-31 09:30:00`. */
export const toReadableTime = (time: string): string => toLocalTimestamp(new Date(time)).replace('T', ' ');

/** Appends the full text of the last column to a one-row table that cuts the text. */
export const withWhole = (table: string, text: string): string => {
  const whole = escapeControls(foldSpaces(text));
  return table.includes(whole) ? table : `${table}\n${whole}\n`;
};

/** Joins the lines of a string into one line. */
export const foldSpaces = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Wraps the words into lines of at most `width` characters. */
export const wrap = (text: string, width: number): string[] => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};
