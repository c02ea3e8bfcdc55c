import { readFileSync } from 'node:fs';
import type { Static } from 'typebox';
import Type from 'typebox';
import { problemsOf, SettingsError } from '../../config/settings-error.ts';
import { readIdTime, type StoredRecord } from '../../storage/journal/line.ts';
import { readOwnTimeZone } from '../../time-zone.ts';
import { formatOf, notificationKinds, readTime, readVia, type SilenceSource, toText } from '../offers.ts';
import { findSeverity, type Severity, severities, toSeverity } from '../severity.ts';
import { isLike } from '../wildcards.ts';
import { alertmanagerDestination } from './destinations/alertmanager.ts';
import { appriseDestination } from './destinations/apprise.ts';
import { emailDestination } from './destinations/email.ts';
import { gotifyDestination } from './destinations/gotify.ts';
import { ntfyDestination } from './destinations/ntfy.ts';
import { slackDestination } from './destinations/slack.ts';
import { templateDestination } from './destinations/template.ts';
import {
  type DeliveryRequest,
  type DestinationType,
  type Outgoing,
  ownSettings,
  type ReceiverAddress,
} from './destinations/type.ts';
import { webhookDestination } from './destinations/webhook.ts';
import { parseHours } from './hours.ts';
import { assertIncidentKeys, toIncidentRules } from './incident-rules.ts';
import type { IncidentRules } from './plan.ts';
import { isNoticeOf } from './receiver-state.ts';

/** Every type of destination: one line and one file for each. */
export const destinationTypes: readonly DestinationType[] = [
  webhookDestination,
  ntfyDestination,
  gotifyDestination,
  slackDestination,
  appriseDestination,
  alertmanagerDestination,
  emailDestination,
  templateDestination,
];

const GiB = 1024 ** 3;

/** How many there can be. */
export const mostDestinations = 100;

const oneOrTwo = (example: string, description: string) => {
  const one = Type.String({ minLength: 1, examples: [example] });
  return Type.Union([one, Type.Array(one, { minItems: 1, maxItems: 2 })], { description });
};

const texts = (example: string, description: string) =>
  Type.Array(Type.String({ minLength: 1, examples: [example] }), { minItems: 1, description });

/** Names of destinations are parts of file names and paths. */
export const namePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/** A header's value. */
const HeaderValue = Type.Union(
  [
    Type.String({ minLength: 1, examples: ['team-a'] }),
    Type.Object({ variable: Type.String({ minLength: 1, examples: ['PAGER_TEAM'] }) }, { additionalProperties: false }),
    Type.Object(
      { file: Type.String({ minLength: 1, examples: ['/etc/signalbox/team'] }) },
      { additionalProperties: false },
    ),
  ],
  { description: 'a text, {"variable": "NAME"} or {"file": "PATH"}' },
);

/** An entry of the setting `destinations`. Type and URL are checked later, with errors that name the destination. */
export const DestinationSettings = Type.Object(
  {
    name: Type.String({
      pattern: namePattern,
      examples: ['pager'],
      description: 'Up to 64 letters, digits, `_` and `-`.',
    }),
    type: Type.String({
      examples: ['webhook'],
      description: `One of ${destinationTypes.map(({ name }) => name).join(', ')}.`,
    }),
    url: Type.String({
      examples: ['https://pager.example.org/alerts'],
      description: 'The receiver: http or https; of `email` smtp or smtps.',
    }),
    secret: Type.Optional(
      oneOrTwo('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'The secret, or the current and the previous one.'),
    ),
    secretFile: Type.Optional(oneOrTwo('/etc/signalbox/pager.secret', 'File with the secret, instead of `secret`.')),
    token: Type.Optional(
      Type.String({ minLength: 1, examples: ['t0k3n'], description: 'Sent as `Authorization: Bearer`.' }),
    ),
    tokenFile: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ['/etc/signalbox/pager.token'],
        description: 'File with the token, instead of `token`.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), HeaderValue, {
        maxProperties: 16,
        description: 'Further headers: a text, or the variable or file that holds it.',
      }),
    ),
    ...ownSettings,
    notify: Type.Optional(
      Type.Enum(['alerts', 'incidents'], {
        type: 'string',
        description: 'What is sent: each alert, which is the default, or messages about incidents.',
      }),
    ),
    on: Type.Optional(
      Type.Array(Type.Enum(notificationKinds, { type: 'string' }), {
        minItems: 1,
        uniqueItems: true,
        description: 'Events of an incident that send a notification: opened, raised and resolved by default.',
      }),
    ),
    after: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 7 * 24 * 60,
        examples: [15],
        description: 'Minutes for which an incident must have been open, and nobody has taken it; 0 by default.',
      }),
    ),
    repeat: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 7 * 24 * 60,
        examples: [60],
        description:
          'Minutes between two reminders while an incident is open and nobody has taken it; none by default.',
      }),
    ),
    groupSeconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 3600,
        examples: [10],
        description: 'Seconds for which news are collected for one message, 10 by default; 0 sends each at once.',
      }),
    ),
    hours: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        examples: ['Mon-Fri 08:00-18:00 Europe/Berlin'],
        description:
          'When it may be notified of an open incident, such as `Mon-Fri 08:00-18:00 Europe/Berlin`; always by default.',
      }),
    ),
    hoursExcept: Type.Optional(
      texts('CRITICAL', 'Severities of incidents that do not wait for `hours`: CRITICAL by default.'),
    ),
    levels: Type.Optional(
      texts(
        'CRITICAL',
        'Send only alerts or incidents of one of these severities: CRITICAL, ERROR, WARNING, INFO or what senders call them.',
      ),
    ),
    sources: Type.Optional(texts('backup*', 'Send only those with one of these sources; `*` stands for any text.')),
    formats: Type.Optional(
      texts('grafana', 'Send only alerts of these formats; those of POST /api/alert are `native`.'),
    ),
    retrySeconds: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 7 * 24 * 3600, examples: [30] }), {
        maxItems: 100,
        description:
          'Seconds to wait after each failed attempt, instead of the usual schedule; then the alert is parked.',
      }),
    ),
    giveUpHours: Type.Optional(
      Type.Number({
        minimum: 0.0001,
        maximum: 720,
        examples: [24],
        description: 'Hours for which an alert is tried before it is parked; 24 by default.',
      }),
    ),
    repeatMinutes: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 7 * 24 * 60,
        examples: [240],
        description: 'Send an alert that keeps coming again after so many minutes, 240 by default; 0 never does.',
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 8,
        examples: [1],
        description:
          'Requests at a time: by default 8 for incidents, and for alerts 1, with more while one takes over a second.',
      }),
    ),
    startAt: Type.Optional(
      Type.Enum(['now', 'oldest'], {
        type: 'string',
        description: 'Which alerts a new destination gets: later ones, or all.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type DestinationSettings = Static<typeof DestinationSettings>;

/** The settings with their defaults. */
export const notificationSettings = {
  destinations: Type.Array(DestinationSettings, {
    default: [],
    maxItems: mostDestinations,
    writeOnly: true,
    description: 'Receivers of alerts: name, type, url and more; see docs/guides/destinations.',
  }),
  publicUrl: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Where people reach this server, such as `https://signalbox.example.org`: notifications link to it, and offer to acknowledge.',
    }),
  ),
  outboxRetainBytes: Type.Integer({
    minimum: 0,
    default: GiB,
    description: 'How many bytes of closed log files are kept for destinations that have not received their alerts.',
  }),
};

export type NotificationSettings = Static<ReturnType<typeof Type.Object<typeof notificationSettings>>>;

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
    const receiver = { url: toUrl(settings.url, type), secrets: readSecrets(settings), settings, headers };
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

const assertPrintable = (what: string, text: string): void => {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error(`${what} must be printable ASCII without spaces`);
};

/** The secrets of a destination, the current one first. Throws an Error whose message shows no secret. */
const readSecrets = ({ secret = [], secretFile = [] }: DestinationSettings): string[] => {
  const [texts, files] = [toList(secret), toList(secretFile)];
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

const readHeaderValue = (name: string, value: Static<typeof HeaderValue>): string => {
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
    ...toList(secretFile).map((path) => ({ name: 'secretFile', path })),
    ...toList(tokenFile).map((path) => ({ name: 'tokenFile', path })),
    ...Object.values(headers).flatMap((value) =>
      typeof value === 'object' && 'file' in value ? [{ name: 'the file of a header', path: value.file }] : [],
    ),
  ]);

const toList = (value: string | string[]): string[] => [value].flat();

/** The text of a file, which messages call by the name of its setting. */
const readSecret = (setting: string, path: string): string => {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot read ${setting} ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (secret === '') throw new Error(`${setting} ${path} is empty`);
  return secret;
};

/** Whether a destination gets the alert of a record. */
export type Accepts = (record: StoredRecord) => boolean;

/**
 * Accepts what the filter names, except alerts that `instance` has delivered before, which would go round in circles, those
 * that were imported, which are old, those about the destination itself, and those that were received under a silence.
 */
export const createFilter = (
  { name, levels, sources, formats }: Omit<DestinationSettings, 'type' | 'url'>,
  instance: string,
  silences?: SilenceSource,
): Accepts => {
  const wanted = levels?.map((level) => toSeverity(level));
  return (record) =>
    record['imported'] !== true &&
    !readVia(record['via']).includes(instance) &&
    !isNoticeOf(record, instance, name) &&
    !isSilenced(record, silences) &&
    (wanted === undefined || wanted.includes(severityOf(record))) &&
    (sources === undefined || sources.some((pattern) => isLike(String(record['source']), pattern))) &&
    (formats === undefined || formats.includes(formatOf(record)));
};

const isSilenced = (record: StoredRecord, silences: SilenceSource | undefined): boolean => {
  const times = listSentTimes(record);
  if (!silences || times.length === 0) return false;
  const { source, hostname, labels } = record;
  const text = toText(record['message']).replace(/^Resolved: /, '');
  const subject = {
    ...{ source: toText(source), hostname: toText(hostname), level: severityOf(record), text },
    labels: (labels ?? null) as Record<string, string> | null,
  };
  return times.every((at) => silences.silencesOf(subject, at).length > 0);
};

/** When alerts that say this were received: of a resolution the first and the worst of those that it ends, if they are known. */
const listSentTimes = (record: StoredRecord): number[] => {
  const { resolves, firingSince } = record;
  const ended = [Date.parse(toText(firingSince)), readIdTime(toText(resolves)) ?? Number.NaN];
  const known = ended.filter((at) => !Number.isNaN(at));
  return known.length > 0 ? known : [readTime(record) ?? []].flat();
};

/** A resolved alert goes where the firing one went, which may have been more severe. */
const severityOf = ({ level, status, firingLevel }: StoredRecord): Severity =>
  toSeverity(String(status === 'resolved' && typeof firingLevel === 'string' ? firingLevel : level));
