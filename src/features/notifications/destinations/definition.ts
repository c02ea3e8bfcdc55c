import { problemsOf, SettingsError } from '../../../config/settings-error.ts';
import { toTrust } from '../../../kit/authorities.ts';
import { findSeverity, severities } from '../../../kit/severity.ts';
import { readOwnTimeZone } from '../../../lib/time-zone.ts';
import type { LinkedDestination } from '../acknowledge/links.ts';
import { parseHours } from '../oncall/hours.ts';
import type { IncidentRules } from '../plan/plan.ts';
import { assertIncidentOptions, toIncidentRules } from '../plan/rules.ts';
import { type DestinationSettings, destinationTypes } from '../settings.ts';
import { assertSecrets, readHeaders, readOwnAuthorities, readSecrets } from './credentials.ts';
import { type DestinationType, ownSettings, type ReceiverAddress } from './type.ts';

/** Properties of a person's contact method that determine its definition. */
interface WayFacts {
  person: string;
  delayMs: number;
  /** The person's settings for quiet hours, as text. A change replaces the definition. */
  quiet: string | undefined;
}

/** Destination with validated settings. */
export interface DestinationDefinition {
  settings: DestinationSettings;
  type: DestinationType;
  receiver: ReceiverAddress;
  /** Scheme, host and port from the URL. */
  address: string;
  rules: IncidentRules;
  /** True for a runtime setting. It can reach only addresses allowed by `watchTargets`. */
  isRuntimeSetting: boolean;
  /**
   * Time at which the runtime setting was created, in Unix milliseconds. A different time means a different
   * destination.
   */
  createdAt: number | null;
  /** Properties of a person's contact method. Undefined for a destination that belongs to nobody. */
  way?: WayFacts;
}

/** Returns problems with destinations and `publicUrl`, as clauses without secrets. */
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
      : ['publicUrl must be an http or https URL such as https://signalbox.example.org, without ? and #']),
    ...twice.map(({ name }) => `destination ${JSON.stringify(name)} is defined twice: rename one destination`),
    ...destinations.flatMap((settings) => problemsOf(() => toDestinationDefinition(settings))),
  ];
};

/** True for an http or https URL in printable ASCII. Other characters cannot be sent in headers. */
const isPublicUrl = (text: string): boolean => {
  const { protocol, search, hash, username } = URL.canParse(text) ? new URL(text) : new URL('none:');
  return /^https?:$/.test(protocol) && /^[!-~]+$/.test(text) && !/[?#]/.test(search + hash + text) && username === '';
};

/** Returns the validated destination with its secrets. Throws a SettingsError that names the destination. */
export const toDestinationDefinition = (
  settings: DestinationSettings,
  isRuntimeSetting = false,
  createdAt: DestinationDefinition['createdAt'] = null,
): DestinationDefinition => {
  try {
    const type = findType(settings.type);
    assertOwnSettings(type, settings);
    const headers = readHeaders(settings, type);
    const trust = toTrust(readOwnAuthorities(settings));
    const receiver = { url: toUrl(settings.url, type), secrets: readSecrets(settings), settings, headers, trust };
    assertSecrets(type, receiver.secrets);
    assertSeverities('levels', settings.levels);
    assertSeverities('hoursExcept', settings.hoursExcept);
    assertIncidentOptions(settings);
    // Most types send the secret in a header.
    const { name, secretHeader = '' } = type;
    if (receiver.secrets.length > 0 && secretHeader in headers)
      throw new Error(
        `type ${name} sends its secret as ${secretHeader}; remove either the secret, or the token or header`,
      );
    const rules = toIncidentRules(settings, (text) => parseHours(text, readOwnTimeZone()));
    const problem = type.findProblem?.(receiver);
    if (problem !== undefined) throw new Error(problem);
    const { protocol, host } = receiver.url;
    return { settings, type, receiver, address: `${protocol}//${host}`, rules, isRuntimeSetting, createdAt };
  } catch (error) {
    throw new SettingsError([`destination ${JSON.stringify(settings.name)}: ${(error as Error).message}`]);
  }
};

/** Returns the identity of the destination in links. `createdAt` is null for the config file. */
export const toLinkedDestination = (
  { name, type, url }: DestinationSettings,
  createdAt: number | null = null,
): LinkedDestination => ({ name, type, url, createdAt: createdAt ?? undefined });

const assertSeverities = (key: string, levels: readonly string[] = []): void => {
  const unknown = levels.find((level) => findSeverity(level) === undefined);
  if (unknown === undefined) return;
  throw new Error(`${key}: ${JSON.stringify(unknown)} is not a severity; use ${severities.join(', ')}`);
};

const findType = (wanted: string): DestinationType => {
  const type = destinationTypes.find(({ name }) => name === wanted);
  if (type) return type;
  const known = destinationTypes.map(({ name }) => name).join(', ');
  throw new Error(`type must be one of ${known}, not ${JSON.stringify(wanted)}`);
};

/** Parses the URL. Error messages omit the URL, because its path may be secret. */
const toUrl = (text: string, { schemes = ['http', 'https'] }: DestinationType): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '' || !schemes.includes(url.protocol.slice(0, -1)))
    throw new Error(`url must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')} and name a host`);
  if (url.username !== '' || url.password !== '')
    throw new Error('url must not contain a user name or password; use secret, token or headers');
  return url;
};

const assertOwnSettings = ({ name, ownSettings: own = [] }: DestinationType, settings: DestinationSettings): void => {
  const names = Object.keys(ownSettings) as (keyof typeof ownSettings)[];
  const foreign = names.find((each) => settings[each] !== undefined && !own.includes(each));
  if (foreign !== undefined) throw new Error(`type ${name} has no setting ${foreign}; remove ${foreign}`);
};
