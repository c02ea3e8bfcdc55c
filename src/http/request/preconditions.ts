import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../response/errors.ts';

const list = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*$/;

/**
 * The versions that `If-Match` names, as entity tags with a number; undefined if any will do. Weak tags match nothing
 * (RFC 9110, 13.1.1).
 */
export const readIfMatch = ({ 'if-match': header }: IncomingHttpHeaders): number[] | undefined => {
  if (header === undefined || header.trim() === '*') return undefined;
  if (!list.test(header.trim()))
    throw new HttpError('invalid', 'If-Match must be * or versions in quotes, such as "3"');
  return [...header.matchAll(/(?:^|,)[ \t]*"([1-9]\d{0,14})"/g)].map(([, digits]) => Number(digits));
};
