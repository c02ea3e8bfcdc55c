import { parseDuration } from '../../../lib/duration.ts';
import { dayMs } from '../../../lib/units.ts';
import { type DestinationDefinition, toDestinationDefinition } from '../destinations/definition.ts';
import type { DestinationSettings } from '../settings.ts';
import type { Quiet } from './person.ts';

/** Stored form of a way to reach a person. */
export type StoredWay = Omit<DestinationSettings, 'name' | 'url'> & {
  /** URL. Undefined for an `email` way that uses the server of a destination. */
  url?: string | undefined;
  delay?: string;
  /** Time at which the person confirmed a test, in Unix milliseconds. */
  provenAt?: number | undefined;
};

/**
 * Separator between the name of the person and the name of the contact method. The names of other destinations cannot
 * contain it.
 */
const separator = '/';

/** Returns the name of a contact method among destinations: `anna/phone`. */
export const toWayName = (person: string, way: string): string => `${person}${separator}${way}`;

/** Returns the names of the person and the contact method. Undefined for other destinations. */
export const splitWayName = (name: string): { person: string; way: string } | undefined => {
  const at = name.lastIndexOf(separator);
  return at < 0 ? undefined : { person: name.slice(0, at), way: name.slice(at + 1) };
};

/** Converts `delay` to milliseconds. Throws an Error if the text is unusable. */
export const toDelay = (text: string | undefined): number => {
  const ms = text === undefined ? 0 : parseDuration(text);
  if (ms !== undefined && ms <= dayMs) return ms;
  throw new Error(
    `delay must be a duration such as "30 seconds" or "5 minutes", at most 24 hours, not ${JSON.stringify(text)}`,
  );
};

/** Kinds of notifications sent to a contact method. */
const on: DestinationSettings['on'] = ['opened', 'raised', 'acknowledged', 'resolved'];

/** Members that a contact method without `url` must take from the `email` destination. */
const serverKeys = ['url', 'secret', 'secretFile', 'user', 'from', 'tls', 'ca', 'caFile'] as const;

/**
 * Converts a way to destination settings. An `email` way without `url` uses the server of `mail`. Throws an Error if
 * there is no server.
 */
const toWaySettings = (
  name: string,
  { delay: _, provenAt: __, ...way }: StoredWay,
  mail: DestinationSettings | undefined,
): DestinationSettings => {
  const { url } = way;
  if (url !== undefined) return { ...way, name, url, notify: 'incidents', on };
  if (way.type !== 'email') throw new Error('url is required');
  if (!mail)
    throw new Error(
      'url is required, because no destination of type email has a mail server that contact methods can use',
    );
  const server = Object.fromEntries(serverKeys.flatMap((key) => (mail[key] === undefined ? [] : [[key, mail[key]]])));
  const own = Object.fromEntries(
    Object.entries(way).filter(([key]) => !(serverKeys as readonly string[]).includes(key)),
  );
  return { ...own, ...server, name, notify: 'incidents', on } as DestinationSettings;
};

/** Destination with the mail server for contact methods that have no server themselves. */
export interface MailServer {
  settings: DestinationSettings;
  isRuntimeSetting: boolean;
}

/** Returns the definition of a contact method. Throws an Error if the contact method is unusable. */
export const toWayDefinition = (
  name: string,
  stored: StoredWay,
  createdAt: number,
  quiet: Quiet & { text?: string },
  mail: MailServer | undefined,
): DestinationDefinition => {
  const delayMs = toDelay(stored.delay);
  // Only a server from the config file is exempt from watchTargets.
  const isRuntimeSetting = stored.url !== undefined || mail?.isRuntimeSetting === true;
  const definition = toDestinationDefinition(toWaySettings(name, stored, mail?.settings), isRuntimeSetting, createdAt);
  const { hours, except, text } = quiet;
  const { person = '' } = splitWayName(name) ?? {};
  return {
    ...definition,
    rules: { ...definition.rules, delayMs, afterMs: delayMs, hours, hoursExcept: except },
    way: { person, delayMs, quiet: text },
  };
};
