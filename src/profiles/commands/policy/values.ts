import { dateForms, parseDate } from '../language/date.ts';
import { type Condition, parseFilter } from '../language/filter.ts';
import { findName } from '../language/names.ts';
import { quote, Refusal } from '../language/refusal.ts';
import type { ParameterPolicy, ValuePolicy } from './policy-shape.ts';

export type Value = string | number | true | Date | Condition[];

/**
 * The texts given for a parameter as the value or list of values that its policy allows; `properties` are
 * those of the class that the command names.
 */
export const toValue = (
  name: string,
  policy: ParameterPolicy,
  texts: readonly string[],
  properties: readonly string[],
): Value | Value[] | Refusal => {
  if (policy.type === 'switch') return texts.length === 0 || new Refusal(`-${name} takes no value`);
  if (texts.length === 0) return new Refusal(`-${name} needs a value`);
  const most = policy.maxValues ?? 1;
  if (texts.length > most) {
    return new Refusal(`-${name} takes at most ${most} ${most === 1 ? 'value' : 'values'}`);
  }
  const values = texts.map((text) => toOne(text, policy, properties));
  const refused = values.find((value) => value instanceof Refusal);
  if (refused) return new Refusal(`-${name}: ${refused.reason}`);
  return policy.maxValues === undefined ? (values[0] as Value) : (values as Value[]);
};

const toOne = (
  text: string,
  policy: Exclude<ValuePolicy, { type: 'switch' }>,
  properties: readonly string[],
): Value | Refusal => {
  switch (policy.type) {
    case 'pattern':
      return toPattern(text, policy.maxLength);
    case 'integer':
      return toInteger(text, policy.min, policy.max);
    case 'choice':
      return toChoice(text, policy.values);
    case 'date':
      return parseDate(text) ?? new Refusal(`${quote(text)} is not a date of the form ${dateForms}`);
    case 'property':
      return toChoice(text, properties);
    case 'filter':
      return isLonger(text, policy.maxLength)
        ? tooLong(text, policy.maxLength)
        : parseFilter(text, properties);
  }
};

const toPattern = (text: string, maxLength: number): string | Refusal => {
  if (text === '') return new Refusal('a value must not be empty');
  if (isLonger(text, maxLength)) return tooLong(text, maxLength);
  return /[[\]]/.test(text) ? new Refusal(`${quote(text)}: only * and ? are wildcards`) : text;
};

/** Counts code points, as JSON Schema does. */
const isLonger = (text: string, maxLength: number): boolean => [...text].length > maxLength;

const tooLong = (text: string, maxLength: number): Refusal =>
  new Refusal(`${quote(text)} is longer than ${maxLength} characters`);

const toInteger = (text: string, min: number, max: number): number | Refusal => {
  const number = Number(text);
  const isInRange = /^\d{1,16}$/.test(text) && number >= min && number <= max;
  return isInRange ? number : new Refusal(`${quote(text)} is not a whole number from ${min} to ${max}`);
};

const toChoice = (text: string, values: readonly string[]): string | Refusal =>
  findName(values, text) ?? new Refusal(`${quote(text)} is not one of ${values.join(', ')}`);
