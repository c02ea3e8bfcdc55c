import type { X509Certificate } from 'node:crypto';
import { problemsOf, SettingsError } from '../../../config/settings-error.ts';
import { parseAuthorities, toTrust } from '../../../kit/authorities.ts';
import { findSeverity, severities } from '../../../kit/severity.ts';
import { readSmallFileSync } from '../../../lib/small-file.ts';
import { readOwnTimeZone } from '../../../lib/time-zone.ts';
import type { LinkedDestination } from '../acknowledge/links.ts';
import type { Outgoing } from '../message/outgoing.ts';
import { parseHours } from '../oncall/hours.ts';
import type { IncidentRules } from '../plan/plan.ts';
import { assertIncidentKeys, toIncidentRules } from '../plan/rules.ts';
import { type DestinationSettings, destinationTypes } from '../settings.ts';
import { type DeliveryRequest, type DestinationType, ownSettings, type ReceiverAddress } from './type.ts';

/** A destination whose settings were checked. */
export interface DestinationTarget {
  settings: DestinationSettings;
  type: DestinationType;
  receiver: ReceiverAddress;
  /** Scheme, host and port of the URL. */
  address: string;
  /** When it is notified of incidents. */
  rules: IncidentRules;
  /** Somebody has made it at run time, so there are addresses that it may not reach. */
  isMade: boolean;
  /** When it was made at run time, in Unix milliseconds: another one of this name is another destination. */
  madeAt: number | null;
}

/** Why destinations cannot be used, as clauses that name them and show no secrets; and why `publicUrl` cannot. */
export const findNotificationProblems = ({
  destinations,
  publicUrl,
}: {
  destinations: DestinationSettings[];
  publicUrl?: string;
}): string[] => {
  const names = destinations.map(({ name }) => name.toLowerCase());
  const twice = destinations.filter(({ name }, index) => names.indexOf(name.toLowerCase()) !== index);
  return [
    ...(publicUrl === undefined || isPublicUrl(publicUrl)
      ? []
      : ['publicUrl must be an http or https address such as https://signalbox.example.org, without ? and #']),
    ...twice.map(({ name }) => `destination ${JSON.stringify(name)} is there twice: give each another name`),
    ...destinations.flatMap((settings) => problemsOf(() => toTarget(settings))),
  ];
};

/** Printable ASCII: it is sent in headers. */
const isPublicUrl = (text: string): boolean => {
  const { protocol, search, hash, username } = URL.canParse(text) ? new URL(text) : new URL('none:');
  return /^https?:$/.test(protocol) && /^[!-~]+$/.test(text) && !/[?#]/.test(search + hash + text) && username === '';
};

/** The destination of an entry, with its secrets read. Throws a SettingsError that names it. */
export const toTarget = (
  settings: DestinationSettings,
  isMade = false,
  madeAt: DestinationTarget['madeAt'] = null,
): DestinationTarget => {
  try {
    const type = findType(settings.type);
    assertOwnSettings(type, settings);
    const headers = readHeaders(settings, type);
    const trust = toTrust(readOwnAuthorities(settings));
    const receiver = { url: toUrl(settings.url, type), secrets: readSecrets(settings), settings, headers, trust };
    assertSecrets(type, receiver.secrets);
    assertSeverities('levels', settings.levels);
    assertSeverities('hoursExcept', settings.hoursExcept);
    assertIncidentKeys(settings);
    // Most types send their secret as a token, too.
    const { name, secretHeader = '' } = type;
    if (receiver.secrets.length > 0 && secretHeader in headers)
      throw new Error(`type ${name} sends its secret as ${secretHeader}; remove the secret, or the token or header`);
    const rules = toIncidentRules(settings, (text) => parseHours(text, readOwnTimeZone()));
    const problem = type.findProblem?.(receiver);
    if (problem !== undefined) throw new Error(problem);
    const { protocol, host } = receiver.url;
    return { settings, type, receiver, address: `${protocol}//${host}`, rules, isMade, madeAt };
  } catch (error) {
    throw new SettingsError([`destination ${JSON.stringify(settings.name)}: ${(error as Error).message}`]);
  }
};

/** The destination as its links know it; `madeAt` is null in the config file. */
export const toLinkedDestination = (
  { name, type, url }: DestinationSettings,
  madeAt: number | null = null,
): LinkedDestination => ({ name, type, url, createdAt: madeAt ?? undefined });

/** The request that sends it at `now`, with headers that the record adds. */
export const createRequest = (
  { type, receiver }: DestinationTarget,
  outgoing: Outgoing,
  now: Date,
  added: Record<string, string> = {},
): DeliveryRequest => {
  if (!type.toRequest) throw new Error(`${type.name} has no requests`);
  const { headers, ...request } = type.toRequest(outgoing, receiver, now);
  const given = type.toHeaders?.(outgoing, receiver) ?? receiver.headers;
  const common = { 'user-agent': 'signalbox', ...headers, ...given, via: outgoing.via, ...added };
  return { ...request, headers: common };
};

const assertSeverities = (key: string, levels: readonly string[] = []): void => {
  const unknown = levels.find((level) => findSeverity(level) === undefined);
  if (unknown === undefined) return;
  throw new Error(`${key} has ${JSON.stringify(unknown)}, which is no severity; use ${severities.join(', ')}`);
};

const findType = (wanted: string): DestinationType => {
  const type = destinationTypes.find(({ name }) => name === wanted);
  if (type) return type;
  const known = destinationTypes.map(({ name }) => name).join(', ');
  throw new Error(`type must be one of ${known}, not ${JSON.stringify(wanted)}`);
};

/** Its path may be a secret, so no message shows the URL. */
const toUrl = (text: string, { schemes = ['http', 'https'] }: DestinationType): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '' || !schemes.includes(url.protocol.slice(0, -1)))
    throw new Error(`url must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')} and name a host`);
  if (url.username !== '' || url.password !== '')
    throw new Error('url must not hold a user name or password; use secret, token or headers');
  return url;
};

const assertOwnSettings = ({ name, ownSettings: own = [] }: DestinationType, settings: DestinationSettings): void => {
  const names = Object.keys(ownSettings) as (keyof typeof ownSettings)[];
  const foreign = names.find((each) => settings[each] !== undefined && !own.includes(each));
  if (foreign !== undefined) throw new Error(`type ${name} has no setting ${foreign}; remove it`);
};

const assertSecrets = (
  { name, secret, takesAnySecret = false, secrets: most = 1, findSecretProblem }: DestinationType,
  given: string[],
): void => {
  if (secret === 'none' && given.length > 0) throw new Error(`type ${name} takes no secret`);
  if (secret === 'required' && given.length === 0) throw new Error(`type ${name} needs secret or secretFile`);
  if (given.length > most) throw new Error(`type ${name} takes one secret`);
  for (const text of given) {
    // It is sent in a header.
    if (!takesAnySecret) assertPrintable('the secret', text);
    const problem = findSecretProblem?.(text);
    if (problem !== undefined) throw new Error(`the secret ${problem}`);
  }
};

/** The CAs of a destination. Throws an Error whose message says why they cannot be read. */
const readOwnAuthorities = ({ ca, caFile }: DestinationSettings): X509Certificate[] => {
  if (ca !== undefined && caFile !== undefined) throw new Error('give ca or caFile, not both');
  if (caFile !== undefined) return parseAuthorities(`caFile ${caFile}`, readSettingFile('caFile', caFile));
  return ca === undefined ? [] : parseAuthorities('ca', ca);
};

const assertPrintable = (what: string, text: string): void => {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error(`${what} must be printable ASCII without spaces`);
};

/** The secrets of a destination, the current one first. Throws an Error whose message shows no secret. */
const readSecrets = ({ secret = [], secretFile = [] }: DestinationSettings): string[] => {
  const [texts, files] = [toAddresses(secret), toAddresses(secretFile)];
  if (texts.length > 0 && files.length > 0) throw new Error('give secret or secretFile, not both');
  return [...texts, ...files.map((path) => readSecret('secretFile', path))];
};

/** Names of headers that belong to the connection, to delivery or to the body. */
const reservedHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*|via|traceparent|idempotency-key|webhook-.*)$/;

/**
 * The headers that are added to each request, with the token as one of them; names in lower case. Throws an Error whose
 * message shows no value.
 */
const readHeaders = (
  { headers = {}, token, tokenFile }: DestinationSettings,
  { ownHeaders = [] }: DestinationType,
): Record<string, string> => {
  if (token !== undefined && tokenFile !== undefined) throw new Error('give token or tokenFile, not both');
  const bearer = tokenFile === undefined ? token : readSecret('tokenFile', tokenFile);
  const given = Object.entries(headers).map(([name, value]) => [
    toHeaderName(name, ownHeaders),
    readHeaderValue(name, value),
  ]);
  if (bearer !== undefined) {
    assertPrintable('the token', bearer);
    given.push(['authorization', `Bearer ${bearer}`]);
  }
  const names = given.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === 'authorization') throw new Error('give a token or the header authorization, not both');
  if (twice !== undefined) throw new Error(`headers has ${twice} twice`);
  return Object.fromEntries(given);
};

const toHeaderName = (name: string, allowed: readonly string[]): string => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new Error(`headers: ${JSON.stringify(name)} is no header name`);
  const lower = name.toLowerCase();
  if (reservedHeaders.test(lower) && !allowed.includes(lower))
    throw new Error(`headers: ${lower} is set by signalbox; remove it`);
  return lower;
};

const readHeaderValue = (name: string, value: NonNullable<DestinationSettings['headers']>[string]): string => {
  let text: string;
  if (typeof value === 'string') text = value;
  else if ('file' in value) text = readSecret(`the file of the header ${name},`, value.file);
  else {
    text = process.env[value.variable]?.trim() ?? '';
    if (text === '') throw new Error(`the variable ${value.variable} of the header ${name} is not set`);
  }
  if (!/^[\x20-\x7e]+$/.test(text)) throw new Error(`the value of the header ${name} must be printable ASCII`);
  return text;
};

/** The files with secrets that destinations name, for the check of their permissions. */
export const listSecretFiles = ({ destinations }: { destinations: readonly DestinationSettings[] }) =>
  destinations.flatMap(({ secretFile = [], tokenFile = [], headers = {} }) => [
    ...toAddresses(secretFile).map((path) => ({ name: 'secretFile', path })),
    ...toAddresses(tokenFile).map((path) => ({ name: 'tokenFile', path })),
    ...Object.values(headers).flatMap((value) =>
      typeof value === 'object' && 'file' in value ? [{ name: 'the file of a header', path: value.file }] : [],
    ),
  ]);

const toAddresses = (value: string | string[]): string[] => [value].flat();

const readSecret = (setting: string, path: string): string => {
  const secret = readSettingFile(setting, path);
  if (secret === '') throw new Error(`${setting} ${path} is empty`);
  return secret;
};

/** The text of a file, which messages call by the name of its setting. */
const readSettingFile = (setting: string, path: string): string => {
  try {
    return readSmallFileSync(path).toString().trim();
  } catch (error) {
    throw new Error(
      `cannot read ${setting} ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
    );
  }
};
