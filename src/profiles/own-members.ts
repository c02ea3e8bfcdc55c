import type { TObject } from 'typebox';
import { suggest } from '../config/names.ts';
import { HttpError } from '../http/errors.ts';

const longestName = 100;

/** So many names are listed where none is similar. */
const mostListed = 8;

/** Refuses a body that names another one than the path. @throws HttpError */
export const assertNameOfPath = (given: string, path: string): void => {
  if (given !== path) throw new HttpError('invalid', `name is ${given}, the path has ${path}: make them equal`);
};

/**
 * Refuses members that `own` does not have: of a setting, a misspelt one would be lost without notice. Those that only
 * responses have (`shown`) are ignored, so what was read can be changed and sent back whole.
 * @throws HttpError
 */
export const assertOwnMembers = (value: object, own: TObject, shown?: TObject, prefix = ''): void => {
  const known = Object.keys(own.properties);
  const isKnown = (name: string): boolean =>
    known.includes(name) || (shown !== undefined && Object.hasOwn(shown.properties, name));
  const unknown = Object.keys(value).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, longestName);
  const advice = suggest(name, known) || (known.length > mostListed ? '' : `: use ${known.join(', ')}`);
  throw new HttpError('invalid', `${prefix}${name} is unknown${advice}`);
};
