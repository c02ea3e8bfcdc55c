import { readFileSync } from 'node:fs';
import { problemsOf, SettingsError } from '../../config/settings-error.ts';
import { findSeverity, severities } from '../severity.ts';
import { destinationTypes } from './destinations/index.ts';
import type { DestinationType, Place } from './destinations/type.ts';
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

/** The secrets of a destination, the current one first. Throws an Error whose message shows no secret. */
const readSecrets = ({
  secret = [],
  secretFile = [],
}: Pick<DestinationSettings, 'secret' | 'secretFile'>): string[] => {
  const texts = toList(secret);
  const files = toList(secretFile);
  if (texts.length > 0 && files.length > 0) throw new Error('give secret or secretFile, not both');
  return [...texts, ...files.map((path) => readSecret('secretFile', path))];
};

/** Names of headers that belong to the connection, to delivery or to the body. */
const ownHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*|via|traceparent|idempotency-key|webhook-.*)$/;

/**
 * The headers that are added to each request, with the token as one of them; names in lower case. Throws an Error whose
 * message shows no value.
 */
const readHeaders = ({ headers = {}, token, tokenFile }: DestinationSettings): Record<string, string> => {
  if (token !== undefined && tokenFile !== undefined) throw new Error('give token or tokenFile, not both');
  const bearer = tokenFile === undefined ? token : readSecret('tokenFile', tokenFile);
  const given: [string, string][] = Object.entries(headers).map(([name, value]) => [
    toHeaderName(name),
    toHeaderValue(name, value),
  ]);
  if (bearer !== undefined) given.push(['authorization', `Bearer ${toToken(bearer)}`]);
  const names = given.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === 'authorization') throw new Error('give a token or the header authorization, not both');
  if (twice !== undefined) throw new Error(`headers has ${twice} twice`);
  return Object.fromEntries(given);
};

const toHeaderName = (name: string): string => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new Error(`headers: ${JSON.stringify(name)} is no header name`);
  const lower = name.toLowerCase();
  if (ownHeaders.test(lower)) throw new Error(`headers: ${lower} is set by signalbox; remove it`);
  return lower;
};

type HeaderValue = NonNullable<DestinationSettings['headers']>[string];

const toHeaderValue = (name: string, value: HeaderValue): string => {
  const text = readHeaderValue(name, value);
  if (!/^[\x20-\x7e]+$/.test(text)) throw new Error(`the value of the header ${name} must be printable ASCII`);
  return text;
};

const readHeaderValue = (name: string, value: HeaderValue): string => {
  if (typeof value === 'string') return value;
  if ('file' in value) return readSecret(`the file of the header ${name},`, value.file);
  const text = process.env[value.variable]?.trim() ?? '';
  if (text === '') throw new Error(`the variable ${value.variable} of the header ${name} is not set`);
  return text;
};

const toToken = (token: string): string => {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('the token must be printable ASCII without spaces');
  return token;
};

/** The files with secrets that destinations name, for the check of their permissions. */
export const listSecretFiles = ({ destinations }: { destinations: readonly DestinationSettings[] }) =>
  destinations.flatMap(({ secretFile = [], tokenFile = [], headers = {} }) => [
    ...toList(secretFile).map((path) => ({ name: 'secretFile', path })),
    ...toList(tokenFile).map((path) => ({ name: 'tokenFile', path })),
    ...Object.values(headers).flatMap((value) =>
      typeof value === 'object' && 'file' in value ? [{ name: 'the file of a header', path: value.file }] : [],
    ),
  ]);

const toList = (value: string | string[]): string[] => (typeof value === 'string' ? [value] : value);

/** The text of a file, which messages call by the name of its setting. */
const readSecret = (setting: string, path: string): string => {
  const secret = readText(setting, path).trim();
  if (secret === '') throw new Error(`${setting} ${path} is empty`);
  return secret;
};

const readText = (setting: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${setting} ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
};
