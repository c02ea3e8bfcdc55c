import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { toOffsetTimestamp } from '../../http/text-forms.ts';
import type { DeliveredAlert } from './destinations/type.ts';
import { openSender } from './sender.ts';
import type { DestinationTarget } from './settings.ts';

/** What came of a test, and what the receiver said, or why it did not. */
export interface TestOutcome {
  isDelivered: boolean;
  response: string;
}

/** Sends one alert, which is not stored, to the receiver. */
export const sendTest = async (target: DestinationTarget, clock: () => Date): Promise<TestOutcome> => {
  const sender = await openSender(target, 1, clock);
  const { outcome, reply } = await sender.send(createTestAlert(clock()));
  await sender.close();
  return { isDelivered: outcome.kind === 'delivered', response: hideSecrets(reply, target) };
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

/** The response without control characters, and without secrets that the receiver may repeat. */
const hideSecrets = (text: string, { receiver: { url, secrets, headers } }: DestinationTarget): string =>
  [...secrets, ...Object.values(headers).map(toSecret), `${url.pathname}${url.search}`]
    .filter((secret) => secret.length > 1)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** The part of a header's value that may be repeated without the rest. */
const toSecret = (value: string): string => value.replace(/^(?:Bearer|Basic) /i, '');
