import { HttpError } from './errors.ts';

/** Maximum number of values in a large body. Each value takes up to 60 bytes of memory, however short its text is. */
const maxValues = 1_000_000;

const [quote, backslash, comma, openingBracket, openingBrace] = Buffer.from('"\\,[{');

/** Throws an HttpError (413) for JSON with more values than a server should hold. The bytes may be invalid JSON. */
export const assertFewValues = (bytes: Buffer): void => {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = findStringEnd(bytes, at + 1);
    else if (byte === comma || byte === openingBracket || byte === openingBrace) values += 1;
    if (values > maxValues) throw new HttpError('too-large', `Request body has more than ${maxValues} values`);
  }
};

/** Returns the index of the quotation mark at the end of a string. */
const findStringEnd = (bytes: Buffer, start: number): number => {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
};
