import type { X509Certificate } from 'node:crypto';
import { parseAuthorities } from '../../../kit/authorities.ts';
import { readSmallFileSync } from '../../../lib/small-file.ts';
import type { DestinationSettings } from '../settings.ts';
import type { DestinationType } from './type.ts';

export const assertSecrets = (
  { name, secret, takesAnySecret = false, secrets: most = 1, findSecretProblem }: DestinationType,
  given: string[],
): void => {
  if (secret === 'none' && given.length > 0) throw new Error(`type ${name} has no secret: remove secret or secretFile`);
  if (secret === 'required' && given.length === 0) throw new Error(`type ${name} needs secret or secretFile`);
  if (given.length > most) throw new Error(`type ${name} can have only one secret`);
  for (const text of given) {
    // Most secrets are sent in a header.
    if (!takesAnySecret) assertPrintable('the secret', text);
    const problem = findSecretProblem?.(text);
    if (problem !== undefined) throw new Error(`the secret ${problem}`);
  }
};

/** Reads the CA certificates for a destination. Throws an Error with the reason if they cannot be read. */
export const readOwnAuthorities = ({ ca, caFile }: DestinationSettings): X509Certificate[] => {
  if (ca !== undefined && caFile !== undefined) throw new Error('set either ca or caFile, not both');
  if (caFile !== undefined) return parseAuthorities(`caFile ${caFile}`, readSettingFile('caFile', caFile));
  return ca === undefined ? [] : parseAuthorities('ca', ca);
};

const assertPrintable = (what: string, text: string): void => {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error(`${what} must be printable ASCII without spaces`);
};

/**
 * Reads the secrets of a destination. The current secret comes first. Throws an Error if a secret cannot be read. The
 * message reveals no secret.
 */
export const readSecrets = ({ secret = [], secretFile = [] }: DestinationSettings): string[] => {
  const [texts, files] = [toList(secret), toList(secretFile)];
  if (texts.length > 0 && files.length > 0) throw new Error('set either secret or secretFile, not both');
  return [...texts, ...files.map((path) => readSecret('secretFile', path))];
};

/** Headers that settings cannot change. They belong to the connection, the delivery or the body. */
const reservedHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*|via|traceparent|idempotency-key|webhook-.*)$/;

/**
 * Returns the headers in the settings, including the token, with names in lower case. Throws an Error if a header is
 * invalid. The message reveals no values.
 */
export const readHeaders = (
  { headers = {}, token, tokenFile }: DestinationSettings,
  { ownHeaders = [] }: DestinationType,
): Record<string, string> => {
  if (token !== undefined && tokenFile !== undefined) throw new Error('set either token or tokenFile, not both');
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
  if (twice === 'authorization') throw new Error('set either a token or the header authorization, not both');
  if (twice !== undefined) throw new Error(`headers contains ${twice} twice`);
  return Object.fromEntries(given);
};

const toHeaderName = (name: string, allowed: readonly string[]): string => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new Error(`headers: ${JSON.stringify(name)} is not a header name`);
  const lower = name.toLowerCase();
  if (reservedHeaders.test(lower) && !allowed.includes(lower))
    throw new Error(`headers: ${lower} is set by signalbox; remove the header`);
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

/** Lists the files that contain destination secrets, for the permission check. */
export const listSecretFiles = ({ destinations }: { destinations: readonly DestinationSettings[] }) =>
  destinations.flatMap(({ secretFile = [], tokenFile = [], headers = {} }) => [
    ...toList(secretFile).map((path) => ({ name: 'secretFile', path })),
    ...toList(tokenFile).map((path) => ({ name: 'tokenFile', path })),
    ...Object.values(headers).flatMap((value) =>
      typeof value === 'object' && 'file' in value ? [{ name: 'the file of a header', path: value.file }] : [],
    ),
  ]);

const toList = (value: string | string[]): string[] => [value].flat();

const readSecret = (setting: string, path: string): string => {
  const secret = readSettingFile(setting, path);
  if (secret === '') throw new Error(`${setting} ${path} is empty`);
  return secret;
};

/** Reads the text of a file. Error messages name the setting. */
const readSettingFile = (setting: string, path: string): string => {
  try {
    return readSmallFileSync(path).toString().trim();
  } catch (error) {
    throw new Error(
      `cannot read ${setting} ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
    );
  }
};
