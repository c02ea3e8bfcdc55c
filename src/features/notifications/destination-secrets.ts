import { HttpError } from '../../http/errors.ts';
import { DestinationSettings } from './settings.ts';

/** Stored form of a destination, including its secrets. */
export type StoredDestination = Omit<DestinationSettings, 'name'>;

/** Destination in a request. Secrets and `url` keep their stored values if omitted. */
export type GivenDestination = Partial<Pick<StoredDestination, 'url'>> & Omit<StoredDestination, 'url'>;

const {
  name: _name,
  url: _url,
  secret: _secret,
  token: _token,
  headers: _headers,
  ...others
} = DestinationSettings.properties;

/** Schemas of the settings that responses show: all except the name and the secrets. */
export const shownProperties = others;

/** Suffix of a shown URL. Replaces the path, because the path may be secret. */
const hiddenPath = '/***';

/** Members that contain secrets. A request that has none of them keeps the stored secrets. */
const credentials = ['secret', 'token', 'headers'] as const;

/**
 * Returns the destination to store. If the request has no secrets, the known secrets are kept unless the URL names
 * another host. Throws an HttpError if `url` or secrets are missing.
 */
export const keepSecrets = (given: GivenDestination, known: DestinationSettings | undefined): StoredDestination => {
  const isKept = given.url === undefined || (known && given.url === toShownUrl(known.url));
  const url = isKept ? known?.url : given.url;
  if (url === undefined) throw new HttpError('invalid', 'url is required');
  if (!isKept && url.endsWith(hiddenPath)) {
    throw new HttpError(
      'invalid',
      `url ends with ${hiddenPath}, a placeholder for the hidden path: enter the whole URL`,
    );
  }
  const value = { ...given, url };
  const hasOwn = credentials.some((key) => given[key] !== undefined);
  const kept = Object.fromEntries(credentials.flatMap((key) => (known?.[key] ? [[key, known[key]]] : [])));
  if (hasOwn || !known || Object.keys(kept).length === 0) return value;
  if (originOf(value.url) !== originOf(known.url)) {
    throw new HttpError(
      'invalid',
      'the stored secrets must not be sent to the new host in url: enter secret, token or headers again, or send headers {} to remove the secrets',
    );
  }
  return { ...value, ...kept };
};

const originOf = (text: string): string => {
  if (!URL.canParse(text)) return text;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
};

/** Returns the URL without path, query and fragment, because these parts may be secret. */
export const toShownUrl = (text: string): string => {
  const { pathname, search, hash } = new URL(text);
  return originOf(text) + (`${pathname}${search}${hash}`.replace(/^\//, '') === '' ? '' : hiddenPath);
};

/** Lists members that are set but hidden. */
export const listHidden = ({ url, secret, token, headers = {} }: DestinationSettings) => [
  ...(toShownUrl(url).endsWith(hiddenPath) ? (['url'] as const) : []),
  ...(secret === undefined ? [] : (['secret'] as const)),
  ...(token === undefined ? [] : (['token'] as const)),
  ...(Object.keys(headers).length === 0 ? [] : (['headers'] as const)),
];
