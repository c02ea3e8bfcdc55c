import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { toOffsetTimestamp } from '../../http/text-forms.ts';
import type { DeliveredAlert } from './destinations/type.ts';
import { createRequest, type DestinationTarget } from './settings.ts';

/** What came of a test: the receiver's status and response, or why there is none. */
export interface TestOutcome {
  isDelivered: boolean;
  response: string;
}

/** Sends one alert, which is not stored, to the receiver. */
export const sendTest = async (target: DestinationTarget, clock: () => Date): Promise<TestOutcome> => {
  const { createSender } = await import('./sender.ts');
  const sender = createSender(target.receiver.url, 1);
  const reply = await sender.send(createRequest(target, createTestAlert(clock()), clock()));
  await sender.close();
  if ('failure' in reply) return { isDelivered: false, response: reply.failure };
  const text = hideSecrets(reply.text, target).trim();
  return {
    isDelivered: reply.status >= 200 && reply.status < 300,
    response: `${reply.status}${text && `\n${text}`}`,
  };
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
const hideSecrets = (text: string, { receiver: { url, secrets }, headers }: DestinationTarget): string =>
  [...secrets, ...Object.values(headers).map(toSecret), `${url.pathname}${url.search}`]
    .filter((secret) => secret.length > 1)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** The part of a header's value that may be repeated without the rest. */
const toSecret = (value: string): string => value.replace(/^(?:Bearer|Basic) /i, '');
