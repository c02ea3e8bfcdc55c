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
 * HttpError if the settings name another server, because that server must not get the secrets.
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
  if (secret !== undefined && toServer(given) !== toServer(known))
    throw new HttpError(
      'invalid',
      `the watch has another server, to which the stored ${secret} must not be sent: enter the ${secret} again`,
    );
  return { ...value, ...kept };
};

/** Returns the server to which the secrets are sent. */
const toServer = ({ url = '', host, port }: WatchSettings): string =>
  JSON.stringify([URL.canParse(url) ? new URL(url).origin : url, host, port]);
