import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { SettingsError } from '../../config/settings-error.ts';
import { toOffsetTimestamp } from '../../http/timestamp.ts';
import type { Tool } from '../feature.ts';
import type { OutgoingAlert } from './delivery-alert.ts';
import type { DestinationSettings } from './settings.ts';
import { type Target, toTarget } from './target.ts';

/** `signalbox test-destination NAME`: sends one alert, which is not stored, and prints the receiver's response. */
export const testDestination: Tool = {
  name: 'test-destination',
  argument: 'NAME',
  summary: 'send a test alert to a destination of the config file and print the response',
  run: async (name, readSettings) => {
    const { createSender } = await import('./sender.ts');
    const target = findTarget(readSettings()['destinations'] as DestinationSettings[], name);
    const { type, place, headers: own } = target;
    const alert = createTestAlert(new Date());
    const { path, headers, body } = type.toRequest(alert, place, new Date());
    const sender = createSender(place.url, 1);
    const reply = await sender.send({ path, headers: { ...headers, ...own, via: alert.via }, body });
    await sender.close();
    if ('failure' in reply) return { output: `not delivered: ${reply.failure}`, ok: false };
    const ok = reply.status >= 200 && reply.status < 300;
    const text = hideSecrets(reply.text, target).trim();
    return { output: `${ok ? 'delivered' : 'not delivered'}: ${reply.status}${text && `\n${text}`}`, ok };
  },
};

const findTarget = (destinations: readonly DestinationSettings[], name: string): Target => {
  const found = destinations.find((one) => one.name === name);
  if (found) return toTarget(found);
  const known = destinations.map((one) => one.name).join(', ') || 'none';
  throw new SettingsError([`there is no destination ${JSON.stringify(name)}; the settings have: ${known}`]);
};

const createTestAlert = (now: Date): OutgoingAlert => ({
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
const hideSecrets = (text: string, { place: { url, secrets }, headers }: Target): string =>
  [...secrets, ...Object.values(headers).map(toSecret), `${url.pathname}${url.search}`]
    .filter((secret) => secret.length > 1)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** The part of a header's value that may be repeated without the rest. */
const toSecret = (value: string): string => value.replace(/^(?:Bearer|Basic) /i, '');
