import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { createJsonParser } from '../../../http/request/json-body.ts';
import { HttpError } from '../../../http/response/errors.ts';
import { recognize } from './auto.ts';
import type { Format, Incoming } from './format.ts';
import { formats } from './formats.ts';

/** What a handler of an intake path is given. The listener overwrites the header Content-Type, but not its raw form. */
export const toIncoming = ({ body, headers, raw, server }: FastifyRequest): Incoming => ({
  bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  headers,
  contentType: raw.headersDistinct['content-type']?.[0]?.split(';', 1)[0]?.trim().toLowerCase(),
  parseJson: createJsonParser(server),
});

export interface ReadBody {
  format: Format;
  /** Not checked against the format's schema yet. */
  value: unknown;
}

/** The value in a body; without a `format`, that of the format which the body fits. Throws an HttpError. */
export const readBody = (incoming: Incoming, format?: Format): ReadBody => {
  const { headers, bytes, contentType } = incoming;
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new HttpError('unsupported-media-type', 'The body is compressed; send it as it is');
  }
  for (const each of format ? [format] : formats) {
    const value = each.decode?.(incoming);
    if (value !== undefined) return { format: each, value };
  }
  if (contentType !== undefined && !jsonTypes.test(contentType)) {
    throw new HttpError('unsupported-media-type', `The body must be JSON, not ${JSON.stringify(contentType)}`);
  }
  if (bytes.length === 0) throw new HttpError('invalid', 'Request body is required');
  const value = incoming.parseJson(bytes);
  return { format: format ?? recognize(value), value };
};

/** JSON, and what curl and browsers call it unless they are told. */
const jsonTypes =
  /^(?:(?:application|text)\/json|[\w.-]+\/[\w.-]+\+json|text\/plain|application\/x-www-form-urlencoded)$/;

const validators = new Map<TSchema, Validator>();

/** Removes members that are null, and throws an HttpError that names the place if the value does not fit the schema. */
export const assertFits = (schema: TSchema, value: unknown): void => {
  dropNulls(value);
  // Compiled at the first use: most senders of a server are of one kind.
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (!validator.Check(value)) throw new HttpError('invalid', describe(validator.Errors(value)));
};

/** Not recursive: a body may be nested a hundred thousand levels deep. */
const dropNulls = (value: unknown): void => {
  const waiting = [value];
  for (const each of waiting) {
    if (typeof each !== 'object' || each === null) continue;
    const fields = each as Record<string, unknown>;
    for (const [name, member] of Object.entries(fields)) {
      if (typeof member !== 'object') continue;
      if (member !== null) waiting.push(member);
      else if (!Array.isArray(each)) delete fields[name];
    }
  }
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
