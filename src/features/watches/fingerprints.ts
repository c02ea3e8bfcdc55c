import { hash } from 'node:crypto';
import { cutText } from '../../lib/well-formed.ts';

const maxThingLength = 180;

/** Prefix of the thing in a fingerprint. Marks an alert about a thing that cannot be checked. */
export const unknownMark = '?';
export type ThingMark = '' | typeof unknownMark;

/** Name that represents all things if a watch cannot check anything. */
export const allThings = '*';

/**
 * Creates the fingerprint of an alert: `NAME/PLACE/THING`, or `NAME/PLACE/?THING` for a thing that cannot be checked.
 */
export const toWatchFingerprint = (name: string, place: string, thing: string): string => `${name}/${place}/${thing}`;

/** Splits a fingerprint into the name of the watch and the place. */
export const readWatchFingerprint = (fingerprint: string): { name: string; place: string } => {
  const [name = '', place = ''] = fingerprint.split('/', 2);
  return { name, place };
};

/** Shortens the name of a thing for fingerprints and labels. */
export const toThingName = (thing: string): string =>
  thing.length <= maxThingLength
    ? thing
    : `${cutText(thing, maxThingLength)}-${hash('sha256', thing, 'base64url').slice(0, 12)}`;

/** True for the fingerprint of an alert about a thing that cannot be checked. */
export const isUnknownAlert = (fingerprint: string): boolean =>
  fingerprint.split('/', 3)[2]?.startsWith(unknownMark) === true;
