import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { HttpError } from '../../../http/errors.ts';
import { isObject } from './format.ts';

const validators = new Map<TSchema, Validator>();

/** Removes members that are null, and throws an HttpError that names the place if the value does not fit the schema. */
export const assertFits = (schema: TSchema, value: unknown): void => {
  dropNulls(value);
  // Compiled at the first use: most senders of a server are of one kind.
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (!validator.Check(value)) throw new HttpError('invalid', describe(validator.Errors(shorten(value))));
};

/** Not recursive: a body may be nested a hundred thousand levels deep. */
const dropNulls = (value: unknown): void => {
  const waiting = [value];
  for (const each of waiting) {
    if (Array.isArray(each)) {
      for (const member of each) if (typeof member === 'object') waiting.push(member);
    } else if (isObject(each)) {
      for (const name of Object.keys(each)) {
        if (each[name] === null) delete each[name];
        else if (typeof each[name] === 'object') waiting.push(each[name]);
      }
    }
  }
};

/** A copy with fewer elements in its arrays: to list the errors of half a million would take seconds. */
const shorten = (value: unknown, budget = { elements: 2000 }, depth = 0): unknown => {
  // No schema looks deeper.
  if (depth > 12) return value;
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, shorten(member, budget, depth + 1)]),
    );
  }
  if (!Array.isArray(value)) return value;
  const kept: unknown[] = [];
  for (const element of value) {
    if (budget.elements <= 0) break;
    budget.elements -= 1;
    kept.push(shorten(element, budget, depth + 1));
  }
  return kept;
};

type Errors = ReturnType<Validator['Errors']>;

interface Params {
  type?: string;
  requiredProperties?: string[];
  allowedValues?: string[];
}

/** The deepest error: of a list of schemas, that of the one which fits best. */
const describe = (errors: Errors): string => {
  const [first, ...others] = errors;
  if (!first) return 'Request body is not valid';
  const error = others.reduce((one, other) => (depthOf(other) > depthOf(one) ? other : one), first);
  const { type = '', requiredProperties: [missing] = [], allowedValues } = error.params as Params;
  const place = toPlace(error.instancePath);
  if (missing !== undefined)
    return `${toPlace(`${error.instancePath}/${missing.replaceAll('~', '~0').replaceAll('/', '~1')}`)} is required`;
  const subject = place === '' ? 'Request body' : place;
  if (allowedValues) return `${subject} must be one of ${allowedValues.join(', ')}`;
  if (error.keyword === 'type') return `${subject} must be ${nouns[type] ?? type}`;
  return error.keyword === 'minLength' ? `${subject} must not be empty` : `${subject} is not valid`;
};

const depthOf = ({ instancePath }: Errors[number]): number => instancePath.split('/').length;

const nouns: Record<string, string> = {
  ...{ array: 'an array', boolean: 'true or false', integer: 'a whole number' },
  ...{ number: 'a number', object: 'an object', string: 'a string' },
};

/** A JSON pointer as in JavaScript: `/alerts/3/labels` → `alerts[3].labels`. */
const toPlace = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 200);
