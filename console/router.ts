import { computed, signal } from '@preact/signals';

/**
 * Location in the console: `#/alerts/ID?level=ERROR` is `{ path: '/alerts', rest: 'ID', params: { level: 'ERROR' } }`.
 */
interface Place {
  path: string;
  rest: string;
  params: Record<string, string>;
}

export type Params = Record<string, string | undefined>;

const hash = signal(location.hash);

export const place = computed(() => toPlace(hash.value));

/** Follows the address bar and the back and forward buttons. */
export const startRouter = (): void => {
  addEventListener('hashchange', () => {
    hash.value = location.hash;
  });
};

/** Returns the URL of a location, for links. Omits undefined and empty parameters. */
export const toHash = (path: string, params: Params = {}): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const written = query.toString();
  return `#${path}${written && `?${written}`}`;
};

export const goTo = (path: string, params: Params = {}): void => {
  location.hash = toHash(path, params);
};

/**
 * Changes parameters of the current URL. By default, adds a history entry for the back button. `replace` adds none, for
 * text that is being typed.
 */
export const setParams = (changes: Params, { replace = false } = {}): void => {
  // The user has already navigated elsewhere.
  if (hash.value !== location.hash) return;
  const { path, rest, params } = place.value;
  const next = toHash(rest ? `${path}/${encodeURIComponent(rest)}` : path, { ...params, ...changes });
  if (next === location.hash) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', next);
  hash.value = location.hash;
};

/** Former paths of screens, for URLs from earlier versions. */
const former: Record<string, string> = { deliveries: '/notifications' };

const toPlace = (written: string): Place => {
  const [address = '', query = ''] = written.replace(/^#/, '').split(/\?(.*)/s);
  const [, first = '', rest = ''] = /^\/?([^/]*)\/?(.*)$/s.exec(address) ?? [];
  return {
    path: former[first] ?? `/${first}`,
    rest: decode(rest),
    params: Object.fromEntries(new URLSearchParams(query)),
  };
};

const decode = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};
