import { isObject, parseJson } from '../lib/parse-json.ts';
import { makeParsedWellFormed } from '../lib/well-formed.ts';
import { HttpError } from './errors.ts';

/** Decoder that keeps the byte order mark. The JSON parser removes one mark, so the decoder must not remove another. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Throws an HttpError for any other bytes. */
export const decodeBody = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError('invalid', 'Request body is not valid UTF-8');
  }
};

/** Drops null members, because they count as absent. Throws an HttpError for a value that is not an object. */
export const toObject = (value: unknown): Record<string, unknown> => {
  if (!isObject(value)) throw new HttpError('invalid', 'Request body must be a JSON object');
  for (const name of Object.keys(value)) {
    if (value[name] === null) delete value[name];
  }
  return value;
};

/** Parses a JSON object without Fastify. Throws an HttpError for any other bytes. */
export const parseObjectBody = (bytes: Buffer): Record<string, unknown> => {
  const json = decodeBody(bytes);
  const value = parseJson(json);
  if (value === undefined) throw new HttpError('invalid', 'Request body is not valid JSON');
  return toObject(makeParsedWellFormed(json, value));
};
