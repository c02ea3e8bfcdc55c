import type { TObject } from 'typebox';
import { suggest } from '../config/names.ts';
import { HttpError } from '../http/errors.ts';
import { isObject } from '../lib/parse-json.ts';

const maxNameLength = 100;

/** Maximum number of suggested names if none is similar. */
const maxListed = 8;

/** Throws an HttpError if the names in body and path differ. */
export const assertNameOfPath = (given: string, path: string): void => {
  if (given !== path) throw new HttpError('invalid', `name is ${given}, but the path has ${path}: both must be equal`);
};

/**
 * Throws an HttpError for members that `own` and its nested objects do not define, because a misspelt member would have
 * no effect. Members of responses (`shown`) are ignored, so that clients can edit a response and send it back.
 */
export const assertOwnMembers = (value: object, own: TObject, shown?: TObject): void => {
  assertKnown(value, own, shown, '');
  assertParts(value, own, shown, '');
};

/** Schema members that describe nested objects. */
interface Part {
  properties?: Record<string, Part>;
  items?: Part;
}

/** Returns a copy with only the members that `own` and its nested objects define. */
export const pickOwnMembers = <T>(value: T, own: TObject): T => pickMembers(value, own) as T;

const pickMembers = (value: unknown, part: Part): unknown => {
  if (Array.isArray(value)) {
    const { items } = part;
    return items ? value.map((each) => pickMembers(each, items)) : value;
  }
  if (!isObject(value) || !part.properties) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const inner = findOwn(part, name);
    return inner ? [[name, pickMembers(member, inner)] as const] : [];
  });
  return Object.fromEntries(members);
};

const assertParts = (value: unknown, part: Part, shown: Part | undefined, place: string): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const isElement = Array.isArray(value);
    const inner = isElement ? part.items : findOwn(part, name);
    const innerShown = isElement ? shown?.items : shown && findOwn(shown, name);
    if (!inner) continue;
    const path = isElement ? `${place}[${name}]` : `${place}${place === '' ? '' : '.'}${name}`;
    if (isObject(member) && inner.properties) assertKnown(member, inner, innerShown, `${path}.`);
    assertParts(member, inner, innerShown, path);
  }
};

const findOwn = ({ properties = {} }: Part, name: string): Part | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

const assertKnown = (value: object, own: Part, shown: Part | undefined, prefix: string): void => {
  const known = Object.keys(own.properties ?? {});
  const isKnown = (name: string): boolean => known.includes(name) || Object.hasOwn(shown?.properties ?? {}, name);
  const unknown = Object.keys(value).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, maxNameLength);
  const advice = suggest(name, known) || (known.length > maxListed ? '' : `: use ${known.join(', ')}`);
  throw new HttpError('invalid', `${prefix}${name} is unknown${advice}`);
};
