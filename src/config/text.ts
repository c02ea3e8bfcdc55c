import type { TSchema } from 'typebox';
import { textForm } from './schema.ts';

const booleans = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

/** A flag's or variable's text as the setting's value; text that does not fit stays text, for the check to refuse. */
export const fromText = (schema: TSchema, text: string): unknown => {
  switch (textForm(schema)) {
    case 'flag':
      return booleans.get(text.toLowerCase()) ?? text;
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'list':
      return text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
    default:
      return text;
  }
};
