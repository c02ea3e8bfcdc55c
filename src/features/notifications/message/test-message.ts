import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Targets } from '../../../kit/targets.ts';
import { toOffsetTimestamp } from '../../../lib/local-time.ts';
import { shorten } from '../../../lib/well-formed.ts';
import type { DestinationTarget } from '../destinations/target.ts';
import { openTransport } from '../destinations/transport.ts';
import type { DeliveredAlert } from './alert.ts';

/** Most characters of a response that are shown: enough for a reason, too few to read web pages. */
const mostShown = 500;

interface TestOutcome {
  isDelivered: boolean;
  /** Response of the receiver, or the reason why there is none. */
  response: string;
}

/** Sends one alert, which is not stored. */
export const sendTest = async (
  target: DestinationTarget,
  clock: () => Date,
  targets?: Targets,
): Promise<TestOutcome> => {
  const transport = await openTransport(target, 1, clock, targets);
  const { outcome, reply } = await transport.send(createTestAlert(clock()));
  await transport.close();
  return { isDelivered: outcome.kind === 'delivered', response: toShown(hideSecrets(reply, target)) };
};

const createTestAlert = (now: Date): DeliveredAlert => ({
  id: randomUUID(),
  time: toOffsetTimestamp(now),
  source: 'signalbox',
  level: 'INFO',
  severity: 'INFO',
  message: 'This is a test alert.',
  hostname: hostname(),
  format: 'native',
  via: 'signalbox/test',
});

const toShown = (text: string): string => {
  const [status = ''] = /^\d{3}\n/.exec(text) ?? [];
  return `${status}${shorten(text.slice(status.length), mostShown)}`;
};

/** Returns the response without control characters, and without secrets that the receiver may repeat. */
const hideSecrets = (text: string, { receiver: { url, secrets, headers } }: DestinationTarget): string =>
  [...secrets, ...Object.values(headers).flatMap(toSecrets), ...toUrlSecrets(url)]
    .flatMap(toForms)
    .filter((secret) => secret.length > 1)
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** Returns parts of a header's value that a response may repeat alone. */
const toSecrets = (value: string): string[] => {
  const [, scheme = '', credential = value] = /^(Bearer|Basic) (.*)$/i.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credential];
  const pair = Buffer.from(credential, 'base64').toString();
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
};

/** Fewest characters of a secret part of a URL: a response may contain shorter ones by chance. */
const shortestPart = 8;

/** Returns the path and query of a URL, and parts of them that a response may repeat. */
const toUrlSecrets = ({ pathname, search, searchParams }: URL): string[] => {
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= shortestPart);
  return [`${pathname}${search}`, pathname, search, ...parts];
};

/** Returns a secret as plain text, in JSON and in a URL. */
const toForms = (secret: string): string[] => {
  // URLs cannot contain halves of surrogate pairs.
  const encoded = encodeURIComponent(secret.replaceAll(/\p{Cs}/gu, '\ufffd'));
  return [secret, JSON.stringify(secret).slice(1, -1), encoded, encoded.replaceAll('%20', '+')];
};
