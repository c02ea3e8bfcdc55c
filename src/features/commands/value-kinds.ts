import { type FilterCondition, parseFilter } from './filter.ts';
import { findName, forbidden, quoteWord, Refusal } from './language.ts';

/** JSON Schema pattern for values that can be enclosed in single or double quotes. */
const valuePattern = `^(?:[^'${forbidden}]*|[^"$\`${forbidden}]*)$`;

/** Kind of parameter values, with its parser. Its JSON Schema accepts exactly the values that the parser accepts. */
export interface ValueKind<V> {
  /**
   * Parses a value. Throws a Refusal if the value is not allowed. `properties` are the properties of the class named in
   * the command.
   */
  parse(text: string, properties: readonly string[]): V;
  schema: object;
  /** Text after the description of each parameter. */
  hint?: string;
}

const toTextSchema = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: valuePattern });

/** Checks the length in code points, as JSON Schema does. */
const requireLength = (text: string, maxLength: number): void => {
  if ([...text].length > maxLength) throw new Refusal(`${quoteWord(text)} is longer than ${maxLength} characters`);
};

/** Creates the kind of text in which `*` and `?` are wildcards. */
export const patternKind = (maxLength: number): ValueKind<string> => ({
  parse: (text) => {
    if (text === '') throw new Refusal('a value must not be empty');
    requireLength(text, maxLength);
    if (/[[\]]/.test(text)) throw new Refusal(`${quoteWord(text)}: only * and ? are wildcards`);
    return text;
  },
  schema: { ...toTextSchema(maxLength), not: { pattern: String.raw`[\[\]]` } },
  hint: 'Case is ignored; * and ? are wildcards.',
});

export const integerKind = (minimum: number, maximum: number): ValueKind<number> => ({
  parse: (text) => {
    const number = Number(text);
    if (/^\d{1,16}$/.test(text) && number >= minimum && number <= maximum) return number;
    throw new Refusal(`${quoteWord(text)} is not a whole number from ${minimum} to ${maximum}`);
  },
  schema: { type: 'integer', minimum, maximum },
});

const parseChoice = <V extends string>(text: string, values: readonly V[]): V => {
  const found = findName(values, text);
  if (found === undefined) throw new Refusal(`${quoteWord(text)} is not one of ${values.join(', ')}`);
  return found;
};

export const choiceKind = <const V extends string>(values: readonly V[]): ValueKind<V> => ({
  parse: (text) => parseChoice(text, values),
  schema: { type: 'string', enum: values },
});

/** Property of the class named in ClassName. */
export const propertyKind: ValueKind<string> = { parse: parseChoice, schema: { type: 'string' } };

/** Kind of conditions on properties of the class named in ClassName. JSON Schema cannot express their grammar. */
export const filterKind = (maxLength: number): ValueKind<FilterCondition[]> => ({
  parse: (text, properties) => {
    requireLength(text, maxLength);
    return parseFilter(text, properties);
  },
  schema: toTextSchema(maxLength),
  hint: "Property = value or Property LIKE 'a%_b', joined by AND.",
});

/** Form of a date. Also matches days that do not exist in the calendar. */
const dateForm =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** Description of `dateForm` in messages. */
const dateForms = 'yyyy-MM-dd or yyyy-MM-ddTHH:mm[:ss[.fff]][Z|±hh:mm]';

/** ISO 8601 date. Without a zone, the date is in the machine's local time, as in PowerShell. */
export const dateKind: ValueKind<Date> = {
  parse: (text) => {
    const { day = '', time = '00:00', seconds = ':00', zone = '' } = dateForm.exec(text)?.groups ?? {};
    const value = new Date(`${day}T${time}${seconds}${zone}`);
    if (Number.isNaN(value.getTime()) || !isDayOfMonth(day)) {
      throw new Refusal(`${quoteWord(text)} is not a date of the form ${dateForms}`);
    }
    return value;
  },
  schema: { type: 'string', pattern: dateForm.source },
  hint: `${dateForms}, in local time without a zone.`,
};

/** True if the day exists in its month. JavaScript would read 30 February as 1 March. */
const isDayOfMonth = (day: string): boolean => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
