import { HttpError } from '../../http/errors.ts';

/** Maximum size of an expression, and of all expressions in one silence or request. */
export const maxExpressionSize = 1200;

/** Size of a Unicode class (`\pL`), and size of a case-insensitive range that extends beyond ASCII. */
const unicodeSize = 20;
const foldedSize = 100;

/**
 * Returns an upper bound on the number of instructions in an RE2 expression. Does not compile the expression, because
 * `(a{1000}){1000}` would take seconds and gigabytes. Unicode classes are weighted by their compilation time.
 */
export const estimateSize = (text: string): number => {
  const isFolded = /\(\?[a-zA-Z]*i/.test(text);
  // Sizes of each open group and of the last atom in that group.
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
      // The atom itself has already been counted.
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

/** @throws HttpError if the expression is too large to compile */
export const assertSize = (text: string, size: number): void => {
  if (size <= maxExpressionSize) return;
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  throw new HttpError('invalid', `the regular expression ${shown} is too large: use fewer or smaller repetitions`);
};

/** Matches quoted text, classes, counted repetitions, escapes and single characters. */
const tokens =
  /\\Q.*?(?:\\E|$)|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\\[pP]\{[^}]*\}|\\[pP].|\\x\{[^}]*\}|\\.|./gsu;

const toAtomSize = (token: string, isFolded: boolean): number => {
  if (/^\\[pP]/.test(token)) return unicodeSize;
  if (!token.startsWith('[')) return 1;
  const classes = token.match(/\\[pP]/g)?.length ?? 0;
  const ranges = token.match(/-(?:\\x\{|\P{ASCII})/gu)?.length ?? 0;
  return 1 + classes * unicodeSize + ranges * (isFolded ? foldedSize : 1);
};
