import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Targets } from '../../../kit/targets.ts';
import { toOffsetTimestamp } from '../../../lib/local-time.ts';
import { openSender } from '../destinations/sender.ts';
import type { DestinationTarget } from '../destinations/target.ts';
import type { DeliveredAlert } from './alert.ts';
import { shorten } from './text.ts';

/** Characters of a response that are shown below its status: enough for a reason, too few to read pages with. */
const mostShown = 500;

/** What came of a test, and what the receiver said, or why it did not. */
interface TestOutcome {
  isDelivered: boolean;
  response: string;
}

/** Sends one alert, which is not stored, to the receiver. */
export const sendTest = async (
  target: DestinationTarget,
  clock: () => Date,
  targets?: Targets,
): Promise<TestOutcome> => {
  const sender = await openSender(target, 1, clock, targets);
  const { outcome, reply } = await sender.send(createTestAlert(clock()));
  await sender.close();
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

/** The response without control characters, and without secrets that the receiver may repeat. */
const hideSecrets = (text: string, { receiver: { url, secrets, headers } }: DestinationTarget): string =>
  [...secrets, ...Object.values(headers).flatMap(toSecrets), ...toUrlSecrets(url)]
    .flatMap(toForms)
    .filter((secret) => secret.length > 1)
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** Parts of a header's value that may be repeated without the rest. */
const toSecrets = (value: string): string[] => {
  const [, scheme = '', credential = value] = /^(Bearer|Basic) (.*)$/i.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credential];
  const pair = Buffer.from(credential, 'base64').toString();
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
};

/** Shorter parts of a URL are words that the response may have by chance. */
const shortestPart = 8;

/** The path and query of a URL, and what receivers may take out of them. */
const toUrlSecrets = ({ pathname, search, searchParams }: URL): string[] => {
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= shortestPart);
  return [`${pathname}${search}`, pathname, search, ...parts];
};

/** A secret as it is, within JSON, and within a URL. */
const toForms = (secret: string): string[] => {
  // Half a pair of surrogates, which no URL can have.
  const encoded = encodeURIComponent(secret.replaceAll(/\p{Cs}/gu, '\ufffd'));
  return [secret, JSON.stringify(secret).slice(1, -1), encoded, encoded.replaceAll('%20', '+')];
};
