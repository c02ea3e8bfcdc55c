import { type Condition, findName, parseFilter, quote, Refusal, valuePattern } from './language.ts';

/** How a text becomes a value of a parameter, and the JSON Schema that accepts the same values. */
export interface ValueKind<V> {
  /** Throws a Refusal. `properties` are those of the class that the command names. */
  parse(text: string, properties: readonly string[]): V;
  schema: object;
  /** Follows the description of each parameter. */
  hint?: string;
}

const toTextSchema = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: valuePattern });

/** Counts code points, as JSON Schema does. */
const requireLength = (text: string, maxLength: number): void => {
  if ([...text].length > maxLength) throw new Refusal(`${quote(text)} is longer than ${maxLength} characters`);
};

/** A text in which `*` and `?` are wildcards. */
export const pattern = (maxLength: number): ValueKind<string> => ({
  parse: (text) => {
    if (text === '') throw new Refusal('a value must not be empty');
    requireLength(text, maxLength);
    if (/[[\]]/.test(text)) throw new Refusal(`${quote(text)}: only * and ? are wildcards`);
    return text;
  },
  schema: { ...toTextSchema(maxLength), not: { pattern: String.raw`[\[\]]` } },
  hint: 'Any case; * and ? are wildcards.',
});

export const integer = (minimum: number, maximum: number): ValueKind<number> => ({
  parse: (text) => {
    const number = Number(text);
    if (/^\d{1,16}$/.test(text) && number >= minimum && number <= maximum) return number;
    throw new Refusal(`${quote(text)} is not a whole number from ${minimum} to ${maximum}`);
  },
  schema: { type: 'integer', minimum, maximum },
});

const parseChoice = <V extends string>(text: string, values: readonly V[]): V => {
  const found = findName(values, text);
  if (found === undefined) throw new Refusal(`${quote(text)} is not one of ${values.join(', ')}`);
  return found;
};

export const choice = <const V extends string>(values: readonly V[]): ValueKind<V> => ({
  parse: (text) => parseChoice(text, values),
  schema: { type: 'string', enum: values },
});

/** A property of the class that ClassName names. */
export const property: ValueKind<string> = { parse: parseChoice, schema: { type: 'string' } };

/** Conditions on properties of the class that ClassName names. JSON Schema cannot express their grammar. */
export const filter = (maxLength: number): ValueKind<Condition[]> => ({
  parse: (text, properties) => {
    requireLength(text, maxLength);
    return parseFilter(text, properties);
  },
  schema: toTextSchema(maxLength),
  hint: "Property = value or Property LIKE 'a%_b', joined by AND.",
});

/** Before the calendar is checked. */
const dateForm =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** `dateForm` for messages. */
const dateForms = 'yyyy-MM-dd or yyyy-MM-ddTHH:mm[:ss[.fff]][Z|±hh:mm]';

/** An ISO 8601 date; one without a zone is in the machine's local time, as in PowerShell. */
export const date: ValueKind<Date> = {
  parse: (text) => {
    const { day = '', time = '00:00', seconds = ':00', zone = '' } = dateForm.exec(text)?.groups ?? {};
    const value = new Date(`${day}T${time}${seconds}${zone}`);
    if (Number.isNaN(value.getTime()) || !isDayOfMonth(day)) {
      throw new Refusal(`${quote(text)} is not a date of the form ${dateForms}`);
    }
    return value;
  },
  schema: { type: 'string', pattern: dateForm.source },
  hint: `${dateForms}, in local time without a zone.`,
};

/** JavaScript reads 30 February as 1 March. */
const isDayOfMonth = (day: string): boolean => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
