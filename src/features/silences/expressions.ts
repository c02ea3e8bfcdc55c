import { RE2Set } from 're2js';
import { HttpError } from '../../http/errors.ts';
import { assertSize, estimateSize } from './expression-size.ts';
import { parseSimpleExpression } from './simple-expression.ts';

/** Longer texts are compared up to here; titles of incidents end there, too. */
export const longestCompared = 499;

/** Microseconds of one comparison of texts, of each character between wildcards, and of each unit of size, at worst. */
const textMicros = 0.1;
const wildcardMicros = 0.1;
const sizeMicros = 12;

/** Bytes of the states that the engine remembers of an expression: beyond them it is slower, not larger. */
const stateBytes = 16 * 1024;

/** Bytes of a compiled expression, and of each unit of its size; bytes of all that are kept. */
const expressionBytes = 64 * 1024;
const sizeBytes = 512;
const keptBytes = 64 * 1024 * 1024;

/** An expression of RE2, whose time is linear, for whole texts. */
interface Expression {
  /** Bound for the instructions; 0 for one that needs no engine. */
  size: number;
  /** Microseconds for the longest text, at worst. */
  cost: number;
  /** Compiles it if needed. @throws HttpError where it cannot be used */
  test(text: string): boolean;
}

/** What a comparison with a pattern costs, in microseconds. */
export const toPatternCost = (length: number, hasWildcard: boolean): number =>
  textMicros + (hasWildcard ? length * wildcardMicros : 0);

export const parseExpression = (text: string): Expression => {
  const simple = parseSimpleExpression(text);
  if (simple) return { size: 0, cost: toPatternCost(simple.length, true), test: simple.test };
  const size = estimateSize(text);
  return {
    size,
    cost: textMicros + size * sizeMicros,
    test: (value) => findCompiled(text, size)(value),
  };
};

type Test = (value: string) => boolean;

/** Compiled expressions, the one that was used last at the end. */
const compiled = new Map<string, { test: Test; bytes: number }>();
let compiledBytes = 0;

const findCompiled = (text: string, size: number): Test => {
  const known = compiled.get(text);
  if (known) {
    compiled.delete(text);
    compiled.set(text, known);
    return known.test;
  }
  const bytes = expressionBytes + size * sizeBytes;
  const added = { test: compile(text, size), bytes };
  compiled.set(text, added);
  compiledBytes += bytes;
  for (const [oldest, one] of compiled) {
    if (compiledBytes <= keptBytes) break;
    compiled.delete(oldest);
    compiledBytes -= one.bytes;
  }
  return added.test;
};

const compile = (text: string, size: number): Test => {
  assertSize(text, size);
  try {
    // Unlike one expression alone, a set lets the memory of its states be bounded.
    const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, stateBytes);
    set.add(text);
    set.compile();
    return (value) => set.match(value).length > 0;
  } catch (error) {
    throw new HttpError('invalid', `the regular expression ${text} cannot be used: ${(error as Error).message}`);
  }
};
