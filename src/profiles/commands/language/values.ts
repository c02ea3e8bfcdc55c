import { quote, Refusal } from './refusal.ts';

/** The name that equals the text. Only the case of ASCII letters is ignored, so no look-alike passes for a name. */
export const findName = <N extends string>(names: readonly N[], text: string): N | undefined =>
  /^\p{ASCII}*$/u.test(text) ? names.find((name) => name.toLowerCase() === text.toLowerCase()) : undefined;

export const parseChoice = (text: string, values: readonly string[]): string | Refusal =>
  findName(values, text) ?? new Refusal(`${quote(text)} is not one of ${values.join(', ')}`);

export const parseInteger = (text: string, min: number, max: number): number | Refusal => {
  const number = Number(text);
  const isInRange = /^\d{1,16}$/.test(text) && number >= min && number <= max;
  return isInRange ? number : new Refusal(`${quote(text)} is not a whole number from ${min} to ${max}`);
};

/** A text in which `*` and `?` are wildcards. */
export const parsePattern = (text: string, maxLength: number): string | Refusal => {
  if (text === '') return new Refusal('a value must not be empty');
  const tooLong = refuseLonger(text, maxLength);
  if (tooLong) return tooLong;
  return /[[\]]/.test(text) ? new Refusal(`${quote(text)}: only * and ? are wildcards`) : text;
};

/** Counts code points, as JSON Schema does. */
export const refuseLonger = (text: string, maxLength: number): Refusal | undefined =>
  [...text].length > maxLength ? new Refusal(`${quote(text)} is longer than ${maxLength} characters`) : undefined;

/** The accepted forms of a date, before the calendar is checked. */
export const dateForm =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** `dateForm` for messages. */
export const dateForms = 'yyyy-MM-dd or yyyy-MM-ddTHH:mm[:ss[.fff]][Z|±hh:mm]';

/** An ISO 8601 date; one without a zone is in the machine's local time, as in PowerShell. */
export const parseDate = (text: string): Date | Refusal => {
  const { day = '', time = '00:00', seconds = ':00', zone = '' } = dateForm.exec(text)?.groups ?? {};
  const date = new Date(`${day}T${time}${seconds}${zone}`);
  if (Number.isNaN(date.getTime()) || !isDayOfMonth(day)) {
    return new Refusal(`${quote(text)} is not a date of the form ${dateForms}`);
  }
  return date;
};

/** JavaScript reads 30 February as 1 March. */
const isDayOfMonth = (day: string): boolean => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
