import { problemsOf, SettingsError } from '../../../../config/settings-error.ts';
import { findSeverity, severities } from '../../../severity.ts';
import { destinationTypes } from '../types/index.ts';
import type { DestinationType, Place } from '../types/type.ts';
import { readHeaders, readSecrets } from './secrets.ts';
import type { DestinationSettings } from './settings.ts';

/** A destination whose settings were checked. */
export interface Target {
  settings: DestinationSettings;
  type: DestinationType;
  place: Place;
  /** Scheme, host and port of the URL. */
  address: string;
  /** Added to each request, by name in lower case. */
  headers: Record<string, string>;
}

/** Why destinations cannot be used, as clauses that name them and show no secrets. */
export const findDestinationProblems = ({ destinations }: { destinations: DestinationSettings[] }): string[] => {
  const names = destinations.map(({ name }) => name.toLowerCase());
  const twice = destinations.filter(({ name }, index) => names.indexOf(name.toLowerCase()) !== index);
  return [
    ...twice.map(({ name }) => `destination ${JSON.stringify(name)} is there twice: give each another name`),
    ...destinations.flatMap((settings) => problemsOf(() => toTarget(settings))),
  ];
};

/** The destination of an entry, with its secrets read. Throws a SettingsError that names it. */
export const toTarget = (settings: DestinationSettings): Target => {
  try {
    const type = findType(settings.type);
    const place = { url: toUrl(settings.url), secrets: readSecrets(settings) };
    assertSecrets(type, place.secrets);
    assertLevels(settings.levels);
    const headers = readHeaders(settings);
    assertOneToken(type, place.secrets, headers);
    return { settings, type, place, address: place.url.origin, headers };
  } catch (error) {
    throw new SettingsError([`destination ${JSON.stringify(settings.name)}: ${(error as Error).message}`]);
  }
};

const findType = (wanted: string): DestinationType => {
  const type = destinationTypes.find(({ name }) => name === wanted);
  if (type) return type;
  const known = destinationTypes.map(({ name }) => name).join(', ');
  throw new Error(`type must be one of ${known}, not ${JSON.stringify(wanted)}`);
};

/** Its path may be a secret, so no message shows the URL. */
const toUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error('url must begin with http:// or https:// and name a host');
  if (url.username !== '' || url.password !== '') {
    throw new Error('url must not hold a user name or password; use secret, token or headers');
  }
  return url;
};

const assertSecrets = ({ name, secret, secrets: most = 1, findSecretProblem }: DestinationType, given: string[]) => {
  if (secret === 'none' && given.length > 0) throw new Error(`type ${name} takes no secret`);
  if (secret === 'required' && given.length === 0) throw new Error(`type ${name} needs secret or secretFile`);
  if (given.length > most) throw new Error(`type ${name} takes one secret`);
  for (const text of given) {
    // It is sent in a header.
    if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('the secret must be printable ASCII without spaces');
    const problem = findSecretProblem?.(text);
    if (problem !== undefined) throw new Error(`the secret ${problem}`);
  }
};

const assertLevels = (levels: readonly string[] = []): void => {
  const unknown = levels.find((level) => findSeverity(level) === undefined);
  if (unknown === undefined) return;
  throw new Error(`levels has ${JSON.stringify(unknown)}, which is no severity; use ${severities.join(', ')}`);
};

/** Most types send their secret as a token, too. */
const assertOneToken = ({ name, secretHeader }: DestinationType, secrets: string[], headers: object): void => {
  if (secrets.length === 0 || secretHeader === undefined || !(secretHeader in headers)) return;
  throw new Error(`type ${name} sends its secret as ${secretHeader}; remove the secret, or the token or header`);
};
