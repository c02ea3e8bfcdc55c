import { createPartsTest } from '../../lib/wildcards.ts';

/** The most alternatives, once groups are multiplied out: `(a|b)-(c|d)` has four. */
const mostAlternatives = 256;

/** The most characters of all alternatives together. */
const longestAlternatives = 8192;

/** An expression that needs no engine: alternatives in which `*` stands for any text without a line break. */
export interface SimpleExpression {
  /** Characters of alternatives that are compared one by one. */
  length: number;
  test(text: string): boolean;
}

/** Alternatives while they are read, as lists of literal texts between wildcards. */
type Alternative = readonly string[];

/**
 * The same as comparisons of texts, which take a hundredth of the time: for an expression of literals, groups, `|` and `.*`, such as
 * people and programs usually write. Undefined for any other one.
 */
export const parseSimpleExpression = (expression: string): SimpleExpression | undefined => {
  if (expression === '.+') return { length: 1, test: (text) => text !== '' && !text.includes('\n') };
  const reader = { tokens: expression.match(tokens) ?? [], at: 0 };
  const alternatives = readAlternatives(reader);
  if (!alternatives || reader.at < reader.tokens.length) return undefined;
  const exact = new Set(alternatives.filter(({ length }) => length === 1).map(([text = '']) => text));
  const like = alternatives.filter(({ length }) => length > 1);
  if (like.some((parts) => parts.join('').includes('\n'))) return undefined;
  const tests = like.map((parts) => createPartsTest(parts));
  return {
    length: toLength(like),
    test: (text) => exact.has(text) || (tests.length > 0 && !text.includes('\n') && tests.some((test) => test(text))),
  };
};

interface Reader {
  tokens: readonly string[];
  at: number;
}

/** `\.`, `(?:`, `.*`, and single characters. */
const tokens = /\\.|\(\?:|\.\*|./gsu;

/** Up to the end or a `)`. */
const readAlternatives = (reader: Reader): Alternative[] | undefined => {
  const all: Alternative[] = [];
  for (;;) {
    const some = readSequence(reader);
    if (!some) return undefined;
    all.push(...some);
    if (all.length > mostAlternatives || toLength(all) > longestAlternatives) return undefined;
    if (reader.tokens[reader.at] !== '|') return all;
    reader.at += 1;
  }
};

const readSequence = (reader: Reader): Alternative[] | undefined => {
  let sequence: Alternative[] = [['']];
  for (
    let token = reader.tokens[reader.at];
    token !== undefined && !/^[|)]$/.test(token);
    token = reader.tokens[reader.at]
  ) {
    reader.at += 1;
    const next = readAtom(reader, token);
    if (!next || sequence.length * next.length > mostAlternatives) return undefined;
    sequence = sequence.flatMap((start) => next.map((end) => join(start, end)));
    if (toLength(sequence) > longestAlternatives) return undefined;
  }
  return sequence;
};

const readAtom = (reader: Reader, token: string): Alternative[] | undefined => {
  if (token === '.*') return [['', '']];
  if (token === '(' || token === '(?:') {
    const inner = readAlternatives(reader);
    if (reader.tokens[reader.at] !== ')') return undefined;
    reader.at += 1;
    return inner;
  }
  if (/^\\[!-/:-@[-`{-~]$/.test(token)) return [[token.slice(1)]];
  return /^[^\\^$.|?*+()[\]{}]$/u.test(token) ? [[token]] : undefined;
};

const join = (start: Alternative, end: Alternative): Alternative => [
  ...start.slice(0, -1),
  `${start.at(-1) ?? ''}${end[0] ?? ''}`,
  ...end.slice(1),
];

const toLength = (alternatives: readonly Alternative[]): number =>
  alternatives.reduce((sum, parts) => sum + parts.reduce((length, part) => length + part.length + 1, 0), 0);
