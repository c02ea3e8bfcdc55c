import type { Static } from 'typebox';
import { needs } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import type { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind, toSettingFacts } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../kit/setting-store.ts';
import { toTimeOrNull } from '../../../kit/time.ts';
import { type GivenDestination, keepSecrets, listHidden, toShownUrl } from '../destination-secrets.ts';
import { assertDestinationName, type DestinationSettings } from '../settings.ts';
import { compileQuiet, type Quiet, type StoredPerson } from './person.ts';
import { toAddressText } from './proof.ts';
import { Person, PersonParams, ShownWay, WayParams } from './schema.ts';
import { type StoredWay, splitWayName, toWayDefinition, toWayName } from './way.ts';

/** Maximum number of contact methods in total, and per person. */
const mostWays = 1000;
export const mostWaysEach = 10;

/** Maximum length in bytes of the name of a person who has contact methods. Links contain the name. */
const longestPerson = 128;

export interface KnownWay {
  /** Full name, e.g. `anna/phone`. */
  name: string;
  person: string;
  way: string;
  setting: RuntimeSetting<StoredWay>;
}

/**
 * Returns the full name of a person's contact method. Throws an HttpError for a name that could be confused with the
 * contact method of another person.
 */
export const requireWayName = (person: string, way: string): string => {
  assertDestinationName('contact method', way);
  return toWayName(person, way);
};

/**
 * Placeholder for the mail server of a destination, used when a contact method that relies on such a server is checked.
 */
const anyServer = {
  settings: { name: 'mail', type: 'email', url: 'smtp://localhost', from: 'signalbox@localhost' },
  isRuntimeSetting: false,
};

/** @throws Error if the way is unusable */
const compile = (setting: RuntimeSetting<StoredWay>): KnownWay => {
  const { name, value, createdAt } = setting;
  const names = splitWayName(name);
  if (!names) throw new Error('the name must have the form PERSON/WAY');
  const { secretFile, tokenFile, caFile, headers = {} } = value;
  const isIndirect = [secretFile, tokenFile, caFile].some((file) => file !== undefined);
  // Otherwise, users could read files on the machine.
  if (isIndirect || Object.values(headers).some((header) => typeof header !== 'string')) {
    throw new HttpError('invalid', 'Files and variables with secrets can be named only in the config file');
  }
  toWayDefinition(name, value, createdAt, { hours: undefined, except: new Set() }, anyServer);
  return { name, ...names, setting };
};

/** Kind of runtime setting for contact methods, which exist only as runtime settings. */
export const wayKind = defineSettingKind<StoredWay, KnownWay, never, GivenDestination & { delay?: string }>({
  name: 'way',
  noun: 'Way',
  path: '/api/people/{person}/ways',
  params: WayParams,
  shape: ShownWay,
  reading: needs('account:own'),
  changing: needs('account:own'),
  limits: { count: mostWays, plural: 'contact methods' },
  isCaseless: true,
  order: 'name',
  assertName: (name) => {
    const { person = '' } = splitWayName(name) ?? {};
    if (Buffer.byteLength(person) > longestPerson) {
      throw new HttpError('invalid', `A user with contact methods must have a name of at most ${longestPerson} bytes`);
    }
  },
  compile,
  complete: (given, { stored }) => {
    const isByServer = given.type === 'email' && given.url === undefined && stored?.url === undefined;
    const known = stored?.url === undefined ? undefined : ({ ...stored, name: '' } as DestinationSettings);
    const value: StoredWay = isByServer ? { ...given } : keepSecrets(given, known);
    const isSame = stored?.provenAt !== undefined && toAddressText(stored) === toAddressText(value);
    return isSame ? { ...value, provenAt: stored.provenAt } : value;
  },
});

export type WayKeeper = SettingKeeper<StoredWay, KnownWay, never, GivenDestination & { delay?: string }>;

/** Converts a contact method to the form used in responses, without secrets. */
export const toShownWay = ({ person, way, setting }: KnownWay, problem: string | null): Static<typeof ShownWay> => {
  const { url, secret: _one, token: _other, headers: _more, provenAt, notify: __, on: ___, ...rest } = setting.value;
  return {
    person,
    name: way,
    settings: { ...rest, url: url === undefined ? null : toShownUrl(url) },
    hidden: listHidden({ ...setting.value, name: way, url: url ?? 'smtp://localhost' }),
    provenAt: toTimeOrNull(provenAt),
    problem,
    ...toSettingFacts(setting),
  };
};

export interface KnownPerson extends StoredPerson {
  name: string;
  quiet: Quiet;
  setting: RuntimeSetting<StoredPerson>;
}

/** Kind of runtime setting for time zones and quiet hours of people. */
export const personKind = defineSettingKind<StoredPerson, KnownPerson>({
  name: 'person',
  noun: 'Person',
  path: '/api/people',
  params: PersonParams,
  shape: Person,
  reading: needs('account:own'),
  changing: needs('account:own'),
  limits: { count: 1000, plural: 'people' },
  order: 'name',
  compile: (setting) => ({ ...setting.value, name: setting.name, quiet: compileQuiet(setting.value), setting }),
});

export type PersonKeeper = SettingKeeper<StoredPerson, KnownPerson>;
