import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import { clean } from '../clean-text.ts';
import { findFirstSeverity, firstText, toAlertLabels, toHostname, toSource } from '../fields.ts';
import { defineFormat } from '../format.ts';
import { toLink, toLinks } from '../links.ts';
import { toRfc3339 } from '../times.ts';

const Text = Type.Optional(Type.String());

/** Maximum number of links, and maximum length of their names in characters. */
const maxNamedLinks = 8;
const maxNameLength = 64;

/** PagerDuty's Events API v2. The routing key is not stored. */
export const pagerduty = defineFormat({
  name: 'pagerduty',
  summary: "Store an event of PagerDuty's Events API v2",
  schema: Type.Object(
    {
      event_action: Type.Enum(['trigger', 'acknowledge', 'resolve']),
      dedup_key: Type.Optional(Type.String({ examples: ['backup/web-1'] })),
      payload: Type.Optional(
        Type.Object({
          summary: Type.Optional(
            Type.String({ description: 'Required to trigger an alert.', examples: ['The disk of web-1 is full'] }),
          ),
          source: Type.Optional(Type.String({ examples: ['web-1'] })),
          severity: Type.Optional(Type.String({ examples: ['critical', 'error', 'warning', 'info'] })),
          timestamp: Text,
          component: Text,
          group: Text,
          class: Text,
          custom_details: Type.Optional(Type.Unknown()),
        }),
      ),
      client: Text,
      client_url: Text,
      links: Type.Optional(Type.Array(Type.Object({ href: Text, text: Text }))),
    },
    {
      title: 'PagerDutyEvent',
      examples: [
        {
          event_action: 'trigger',
          payload: { summary: 'The disk of web-1 is full', source: 'web-1', severity: 'critical' },
        },
      ],
    },
  ),
  recognizes: (value) => isObject(value) && 'event_action' in value,
  readAlerts: ({ event_action: action, dedup_key: given, payload = {}, client, client_url: url, links }) => {
    const { summary = '', source, severity, timestamp, component, group, class: kind } = payload;
    const isTrigger = action === 'trigger';
    if (isTrigger && summary.trim() === '') {
      throw new HttpError('invalid', 'payload.summary is required to trigger an alert');
    }
    const key = given || (isTrigger ? createKey() : '');
    if (key === '') throw new HttpError('invalid', `dedup_key is required to ${action} an alert`);
    const details = payload.custom_details;
    const isAcknowledged = action === 'acknowledge';
    const about = firstText(summary, key);
    return [
      {
        source: toSource('pagerduty', component, group, kind, client),
        level: isAcknowledged ? 'INFO' : (findFirstSeverity(severity) ?? 'WARNING'),
        message: isAcknowledged ? `Acknowledged: ${about}` : about,
        hostname: toHostname(source),
        status: action === 'resolve' ? 'resolved' : 'firing',
        acknowledges: isAcknowledged,
        fingerprint: key,
        state: action,
        startsAt: isAcknowledged ? undefined : toRfc3339(timestamp),
        labels: toAlertLabels({ component, group, class: kind, ...(isObject(details) && details) }),
        link: toLink(url, links?.[0]?.href),
        links: toLinks(toNamed(links)),
        details: typeof details === 'string' ? details : undefined,
      },
    ];
  },
  answer: {
    status: 202,
    schema: Type.Object(
      {
        status: Type.Literal('success'),
        message: Type.String({ examples: ['Event processed'] }),
        dedup_key: Type.String({ description: 'Key of the event; generated if a trigger has none.' }),
      },
      { title: 'PagerDutyReceipt' },
    ),
    create: ({ fingerprints: [fingerprint = ''] }) => ({
      status: 'success',
      message: 'Event processed',
      dedup_key: fingerprint,
    }),
  },
});

/** Creates 32 hexadecimal digits in the style of PagerDuty. */
const createKey = (): string => randomUUID().replaceAll('-', '');

/** Returns links by text. A link without text gets a number. */
const toNamed = (links: readonly { href?: string; text?: string }[] = []): Record<string, unknown> =>
  Object.fromEntries(
    links
      .slice(0, maxNamedLinks)
      .map(({ href, text }, index) => [clean(text ?? '', maxNameLength) || `link ${index + 1}`, href]),
  );
