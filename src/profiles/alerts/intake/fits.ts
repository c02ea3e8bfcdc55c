import type { TSchema } from 'typebox';
import { HttpError } from '../../../http/errors.ts';
import {
  createSchemaCheck,
  describeSchemaErrors,
  listSchemaErrors,
  type SchemaFault,
} from '../../../schema-validation.ts';
import { isObject } from './format.ts';

const checks = new Map<TSchema, (value: unknown) => boolean>();

/** Removes members that are null, and throws an HttpError that names the place if the value does not fit the schema. */
export const assertFits = (schema: TSchema, value: unknown): void => {
  dropNulls(value);
  const isValid = checks.get(schema) ?? createSchemaCheck(schema);
  checks.set(schema, isValid);
  if (isValid(value)) return;
  const faults = describeSchemaErrors(listSchemaErrors(schema, shorten(value)), { nouns: { array: 'an array' } });
  throw new HttpError('invalid', describeDeepest(faults));
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

/** The deepest fault: of a list of schemas, that of the one which fits best. */
const describeDeepest = ([first, ...others]: SchemaFault[]): string => {
  if (!first) return 'Request body is not valid';
  const { path, clause, members } = others.reduce(
    (one, other) => (other.path.length > one.path.length ? other : one),
    first,
  );
  const [missing] = members;
  if (missing !== undefined) return `${toPlace([...path, missing])} is required`;
  return `${toPlace(path) || 'Request body'} ${clause}`;
};

/** As in JavaScript: `alerts[3].labels`. */
const toPlace = (path: string[]): string =>
  path
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 200);
