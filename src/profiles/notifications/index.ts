import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { SettingsError } from '../../config/settings-error.ts';
import { toOffsetTimestamp } from '../../http/text-forms.ts';
import { defineFeature, type Tool } from '../feature.ts';
import { createPolledTopic } from '../topic.ts';
import { openAcknowledgement } from './acknowledge/index.ts';
import type { DeliveredAlert } from './destinations/type.ts';
import { addDeliveryMeters, findDeliveryConcerns, openOutbox } from './outbox.ts';
import { createDeliveryList, createDeliveryRoutes } from './routes.ts';
import { DeliveryList } from './schema.ts';
import { openSender } from './sender.ts';
import {
  type DestinationSettings,
  type DestinationTarget,
  findNotificationProblems,
  listSecretFiles,
  type NotificationSettings,
  notificationSettings,
  toTarget,
} from './settings.ts';

/** Milliseconds between two looks at the destinations while somebody listens. */
const deliveriesInterval = 1000;

/** `signalbox test-destination NAME`: sends one alert, which is not stored, and prints the receiver's response. */
const testDestination: Tool = {
  name: 'test-destination',
  argument: 'NAME',
  summary: 'send a test alert to a destination of the config file and print the response',
  run: async (name, readSettings) => {
    const target = findTarget(readSettings()['destinations'] as DestinationSettings[], name);
    const sender = await openSender(target, 1, () => new Date());
    const { outcome, reply } = await sender.send(createTestAlert(new Date()));
    await sender.close();
    const ok = outcome.kind === 'delivered';
    return { output: `${ok ? 'delivered' : 'not delivered'}: ${hideSecrets(reply, target)}`, ok };
  },
};

/** Delivers stored alerts to destinations. */
export const notifications = defineFeature({
  name: 'notifications',
  profiles: [
    // Before it had a name, it was a part of alerts.
    { name: 'notifications', aliases: ['alerts', 'X'], mounts: ['/'], summary: 'delivery of alerts to destinations' },
  ],
  settings: notificationSettings,
  findProblems: findNotificationProblems,
  listSecretFiles,
  tools: [testDestination],
  create: async (parts) => {
    const { offers, openLog, openSnapshot, clock, log, meters } = parts;
    const { alerts, incidents } = offers;
    const { settings } = parts;
    /** As they are now. */
    let { destinations } = settings;
    const acknowledgement = await openAcknowledgement({
      ...parts,
      incidents,
      publicUrl: settings.publicUrl,
      isDestination: (name) => destinations.some((one) => one.name === name),
    });
    const outbox = alerts && (await openOutbox(settings, alerts, { openLog, openSnapshot, clock, log }));
    const list = () => outbox?.list() ?? [];
    addDeliveryMeters(meters, list, clock);
    const listDeliveries = createDeliveryList(list, alerts?.own, clock);
    return {
      profiles: {
        notifications: [...createDeliveryRoutes(list, alerts?.journal, listDeliveries), ...acknowledgement.routes],
      },
      topics: {
        deliveries: createPolledTopic('admin', DeliveryList, deliveriesInterval, listDeliveries, {
          onlyChanges: true,
        }),
      },
      notices: [
        ...(alerts || settings.destinations.length === 0
          ? []
          : ['Warning: destinations get nothing, because the profile alerts is not mounted']),
        ...listLinkNotices(settings),
      ],
      findConcerns: () => findDeliveryConcerns(list(), clock()),
      reload: (changed) => {
        destinations = changed.destinations;
        outbox?.reload(changed);
        return [];
      },
      close: async () => outbox?.close(),
    };
  },
});

/** Without links, notifications still say everything. */
const listLinkNotices = ({ destinations, publicUrl }: NotificationSettings): string[] => {
  const isTelling = destinations.some(({ notify = 'alerts' }: { notify?: string }) => notify !== 'alerts');
  return isTelling && publicUrl === undefined
    ? ['Notifications have no links to this server, and cannot acknowledge: set publicUrl']
    : [];
};

const findTarget = (destinations: readonly DestinationSettings[], name: string): DestinationTarget => {
  const found = destinations.find((one) => one.name === name);
  if (found) return toTarget(found);
  const known = destinations.map((one) => one.name).join(', ') || 'none';
  throw new SettingsError([`there is no destination ${JSON.stringify(name)}; the settings have: ${known}`]);
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
