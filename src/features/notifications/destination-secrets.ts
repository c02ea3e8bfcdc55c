import { HttpError } from '../../http/errors.ts';
import type { DestinationSettings } from './settings.ts';

/** A destination as it is stored, with its secrets. */
export type StoredDestination = Omit<DestinationSettings, 'name'>;

/** What a request says a destination shall be: what only its receiver knows can be left out. */
export type GivenDestination = Partial<Pick<StoredDestination, 'url'>> & Omit<StoredDestination, 'url'>;

/** Ends what is shown of a URL whose rest may be secret. */
const hiddenPath = '/***';

/** The names of the members with secrets that can be left out, and stay then. */
const credentials = ['secret', 'token', 'headers'] as const;

/**
 * What is stored: with the secrets of the known one where the request has none, unless they would go somewhere else.
 * @throws HttpError
 */
export const keepSecrets = (given: GivenDestination, known: DestinationSettings | undefined): StoredDestination => {
  const isKept = given.url === undefined || (known && given.url === toShownUrl(known.url));
  const url = isKept ? known?.url : given.url;
  if (url === undefined) throw new HttpError('invalid', 'url is required');
  if (!isKept && url.endsWith(hiddenPath)) {
    throw new HttpError(
      'invalid',
      `url ends with ${hiddenPath}, which stands for what is hidden: give the whole address`,
    );
  }
  const value = { ...given, url };
  const hasOwn = credentials.some((key) => given[key] !== undefined);
  const kept = Object.fromEntries(credentials.flatMap((key) => (known?.[key] ? [[key, known[key]]] : [])));
  if (hasOwn || !known || Object.keys(kept).length === 0) return value;
  if (originOf(value.url) !== originOf(known.url)) {
    throw new HttpError(
      'invalid',
      'url leads elsewhere, where the known secrets must not be sent: give secret, token or headers again, or headers {} for none',
    );
  }
  return { ...value, ...kept };
};

const originOf = (text: string): string => {
  if (!URL.canParse(text)) return text;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
};

/** The URL without what may be secret. */
export const toShownUrl = (text: string): string => {
  const { pathname, search, hash } = new URL(text);
  return originOf(text) + (`${pathname}${search}${hash}`.replace(/^\//, '') === '' ? '' : hiddenPath);
};

/** The members that it has, and that are not shown. */
export const listHidden = ({ url, secret, token, headers = {} }: DestinationSettings) => [
  ...(toShownUrl(url).endsWith(hiddenPath) ? (['url'] as const) : []),
  ...(secret === undefined ? [] : (['secret'] as const)),
  ...(token === undefined ? [] : (['token'] as const)),
  ...(Object.keys(headers).length === 0 ? [] : (['headers'] as const)),
];
