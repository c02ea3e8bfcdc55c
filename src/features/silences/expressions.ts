import { RE2Set } from 're2js';
import { HttpError } from '../../http/errors.ts';
import { assertSize, estimateSize } from './expression-size.ts';
import { parseSimpleExpression } from './simple-expression.ts';

/** Maximum number of a string's characters that are compared. Incident titles have the same limit. */
export const maxComparedLength = 499;

/** Maximum microseconds of a comparison: per string, per character between wildcards, and per unit of size. */
const textMicros = 0.1;
const wildcardMicros = 0.1;
const sizeMicros = 12;

/**
 * Maximum size in bytes of the engine's states per expression. At this limit, the engine gets slower instead of larger.
 */
const stateBytes = 16 * 1024;

/** Bytes per compiled expression, bytes per unit of its size, and maximum bytes of all compiled expressions. */
const expressionBytes = 64 * 1024;
const sizeBytes = 512;
const maxCompiledBytes = 64 * 1024 * 1024;

/** RE2 expression that is anchored at both ends and matched in linear time. */
interface Expression {
  /** Upper bound on the number of instructions. 0 if the expression does not need the engine. */
  size: number;
  /** Worst-case microseconds for a string of maximum length. */
  cost: number;
  /** Tests a string. Compiles the expression first if needed. Throws an HttpError if the expression is unusable. */
  test(text: string): boolean;
}

/** Returns the microseconds needed to compare a string with a pattern. */
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

/** Compiled expressions, least recently used first. */
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
    if (compiledBytes <= maxCompiledBytes) break;
    compiled.delete(oldest);
    compiledBytes -= one.bytes;
  }
  return added.test;
};

const compile = (text: string, size: number): Test => {
  assertSize(text, size);
  try {
    // Unlike a single expression, a set of expressions can have a memory limit.
    const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, stateBytes);
    set.add(text);
    set.compile();
    return (value) => set.match(value).length > 0;
  } catch (error) {
    throw new HttpError('invalid', `the regular expression ${text} cannot be used: ${(error as Error).message}`);
  }
};
