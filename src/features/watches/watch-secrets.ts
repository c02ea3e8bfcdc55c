import { isDeepStrictEqual } from 'node:util';
import { HttpError } from '../../http/errors.ts';
import type { WatchSettings } from './schema.ts';
import { watchSecrets } from './type-settings.ts';

/** Returns the settings without secrets. */
export const withoutSecrets = ({ password: _password, key: _key, ...shown }: WatchSettings): WatchSettings => shown;

/** Lists the secrets that are set. */
export const listSecrets = (settings: WatchSettings): (typeof watchSecrets)[number][] =>
  watchSecrets.filter((name) => settings[name] !== undefined);

/**
 * Returns the settings. Missing secrets are taken from the known watch. An empty password means no password. Throws an
 * HttpError if a change could bring the secrets to another recipient.
 */
export const keepWatchSecrets = (given: WatchSettings, known: WatchSettings | undefined): WatchSettings => {
  const { password, ...rest } = given;
  const value: WatchSettings = password === '' ? rest : given;
  if (!known || known.type !== given.type) return value;
  const kept: Partial<WatchSettings> = {
    ...(password === undefined && given.passwordFile === undefined && known.password && { password: known.password }),
    ...(given.certificate !== undefined && given.key === undefined && known.key && { key: known.key }),
  };
  const [secret] = Object.keys(kept);
  const changed = recipientSettings.find(
    (name) => !isDeepStrictEqual(toRecipient(given, name), toRecipient(known, name)),
  );
  if (secret !== undefined && changed !== undefined)
    throw new HttpError(
      'invalid',
      `${changed} decides who receives the stored ${secret}: to change ${changed}, enter the ${secret} again`,
    );
  return { ...value, ...kept };
};

/** Settings that decide who receives the secrets: the server, the protection of the connection, and the places that check. */
const recipientSettings = ['url', 'host', 'port', 'tls', 'ca', 'hosts', 'from'] as const;

/** Returns a setting. Only the origin of a URL matters. */
const toRecipient = (settings: WatchSettings, name: (typeof recipientSettings)[number]): unknown => {
  const { url, tls = false } = settings;
  if (name === 'url' && url !== undefined && URL.canParse(url)) return new URL(url).origin;
  return name === 'tls' ? tls : settings[name];
};
