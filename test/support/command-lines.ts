import fc from 'fast-check';
import type { FilterCondition } from '../../src/features/commands/filter.ts';
import { Refusal } from '../../src/features/commands/language.ts';

const codeUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

/** Creates any string, including strings with lone surrogates. */
export const createAnyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(fc.string({ unit: 'binary', maxLength }), fc.string({ unit: codeUnit, maxLength }));

/** Returns the result of a parser, or the Refusal that it throws. */
export const orRefusal = <T>(parse: () => T): T | Refusal => {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};

/**
 * Writes a command line with the given parameters. As in every accepted line, it must be possible to quote each text.
 */
export const writeCommandLine = (name: string, parameters: object): string =>
  [name, ...Object.entries(parameters).map(([key, value]) => `-${key}${writeGiven(value)}`)].join(' ');

/** Writes the values of a parameter, in quotes, separated by commas. */
export const writeList = (values: readonly unknown[]): string => values.map(writeValue).join(',');

const writeGiven = (value: unknown): string => {
  if (value === true) return '';
  if (!Array.isArray(value)) return ` ${writeValue(value)}`;
  return isConditions(value) ? ` ${writeFilter(value)}` : ` ${writeList(value)}`;
};

const writeValue = (value: unknown): string => {
  const text = value instanceof Date ? value.toISOString() : String(value);
  return text.includes("'") ? `"${text}"` : `'${text}'`;
};

const isConditions = (values: readonly unknown[]): values is FilterCondition[] => typeof values[0] === 'object';

/** Writes a filter. Its strings never contain both kinds of quotes, because the filter itself is in quotes. */
const writeFilter = (conditions: readonly FilterCondition[]): string => {
  const needsSingle = conditions.some(({ value }) => /["$`]/.test(value));
  const [outer, inner] = needsSingle ? ["'", '"'] : ['"', "'"];
  const texts = conditions.map(
    ({ property, operator, value }) =>
      `${property} ${operator} ${inner}${value.replaceAll(/[\\'"]/g, String.raw`\$&`)}${inner}`,
  );
  return `${outer}${texts.join(' AND ')}${outer}`;
};
