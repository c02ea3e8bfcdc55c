import { HttpError } from '../../http/errors.ts';

/** The largest size of an expression, and of all expressions of one silence or request together. */
export const largestSize = 1200;

/** Sizes of a class of Unicode (`\pL`), and of a range up to a letter beyond ASCII that is compared in any case. */
const unicodeSize = 20;
const foldedSize = 100;

/**
 * An upper bound for the instructions of an expression of RE2, without compiling it: a few characters such as
 * `(a{1000}){1000}` can cost seconds and gigabytes. Classes of Unicode weigh as much as they take to compile.
 */
export const estimateSize = (text: string): number => {
  const isFolded = /\(\?[a-zA-Z]*i/.test(text);
  /** Sizes of the groups that are open, and of the last atom of each. */
  const groups = [{ size: 0, last: 0 }];
  let group: { size: number; last: number } = { size: 0, last: 0 };
  groups[0] = group;
  const add = (size: number): void => {
    group.size += size;
    group.last = size;
  };
  for (const [token] of text.matchAll(tokens)) {
    if (token === '(') {
      group = { size: 2, last: 0 };
      groups.push(group);
    } else if (token === ')') {
      const { size } = group;
      if (groups.length > 1) groups.pop();
      group = groups.at(-1) ?? group;
      add(size);
    } else if (token.startsWith('{')) {
      const most = Math.max(...token.split(/\D+/).map(Number), 1);
      // The atom is there once already.
      group.size += group.last * most;
      group.last *= most + 1;
    } else if (token.startsWith('\\Q')) {
      add(token.length);
    } else {
      add(toAtomSize(token, isFolded));
    }
    if (group.size > Number.MAX_SAFE_INTEGER) break;
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
};

/** @throws HttpError for an expression that is too large to be compiled */
export const assertSize = (text: string, size: number): void => {
  if (size <= largestSize) return;
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  throw new HttpError('invalid', `the regular expression ${shown} is too large: use fewer or smaller repetitions`);
};

/** Quoted text, classes, counted repetitions, escapes, characters. */
const tokens =
  /\\Q.*?(?:\\E|$)|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\\[pP]\{[^}]*\}|\\[pP].|\\x\{[^}]*\}|\\.|./gsu;

const toAtomSize = (token: string, isFolded: boolean): number => {
  if (/^\\[pP]/.test(token)) return unicodeSize;
  if (!token.startsWith('[')) return 1;
  const classes = token.match(/\\[pP]/g)?.length ?? 0;
  const ranges = token.match(/-(?:\\x\{|\P{ASCII})/gu)?.length ?? 0;
  return 1 + classes * unicodeSize + ranges * (isFolded ? foldedSize : 1);
};
