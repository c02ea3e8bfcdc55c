import type { TSchema } from 'typebox';
import { HttpError } from '../../../http/errors.ts';
import { isObject } from '../../../lib/parse-json.ts';
import {
  createSchemaCheck,
  describeSchemaErrors,
  listSchemaErrors,
  type SchemaFault,
} from '../../../lib/schema-validation.ts';
import { coerceTexts } from './coerce-texts.ts';

const checks = new Map<TSchema, (value: unknown) => boolean>();

/**
 * Throws an HttpError that names the faulty member if the value does not match the schema. Modifies the value in place:
 * removes null members, and converts numbers to text where the schema has text.
 */
export const assertFits = (schema: TSchema, value: unknown): void => {
  dropNulls(value);
  const isValid = checks.get(schema) ?? createSchemaCheck(schema);
  checks.set(schema, isValid);
  if (isValid(value)) return;
  coerceTexts(schema, value);
  if (isValid(value)) return;
  const faults = describeSchemaErrors(listSchemaErrors(schema, limitElements(value)), { nouns: { array: 'an array' } });
  throw new HttpError('invalid', describeDeepest(faults));
};

/** Removes null members. Not recursive, because a body can be nested a hundred thousand levels deep. */
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

/** Copies a value with shortened arrays. Listing the errors of half a million elements would take seconds. */
const limitElements = (value: unknown, budget = { elements: 2000 }, depth = 0): unknown => {
  // No schema is nested more deeply.
  if (depth > 12) return value;
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, limitElements(member, budget, depth + 1)]),
    );
  }
  if (!Array.isArray(value)) return value;
  const kept: unknown[] = [];
  for (const element of value) {
    if (budget.elements <= 0) break;
    budget.elements -= 1;
    kept.push(limitElements(element, budget, depth + 1));
  }
  return kept;
};

/** Describes the deepest fault. Of several schemas, the best match counts. */
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

/** Formats a path in JavaScript notation: `alerts[3].labels`. */
const toPlace = (path: string[]): string =>
  path
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 200);
