import type { Outgoing, Urgency } from '../message/outgoing.ts';
import { truncate } from '../message/plain-text.ts';
import { type DestinationType, toBearer, toHeader, toPath } from './type.ts';

/** Maximum size of the text in bytes. ntfy turns longer messages into attachments. */
const maxBytes = 4096;

const looks: Record<Urgency, [priority: string, tag: string]> = {
  critical: ['5', 'rotating_light'],
  error: ['4', 'x'],
  warning: ['3', 'warning'],
  info: ['2', 'information_source'],
  resolved: ['2', 'white_check_mark'],
};

/** ntfy. `url` is the address of the topic, and the secret is an access token. */
export const ntfyDestination: DestinationType = {
  name: 'ntfy',
  secret: 'optional',
  secretHeader: 'authorization',
  toRequest: (outgoing, { url, secrets }) => {
    const { title, text, urgency, link } = outgoing;
    const [priority, tags] = looks[urgency];
    const actions = toActions(outgoing);
    return {
      path: toPath(url),
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        title: toHeader(title),
        priority,
        tags,
        ...(link !== undefined && { click: toHeader(link) }),
        ...(actions.length > 0 && { actions: toAscii(JSON.stringify(actions)) }),
        ...toBearer(secrets),
      },
      body: truncate(text, maxBytes),
    };
  },
};

/**
 * Returns the buttons of the notification. The acknowledge button works without a browser and removes the notification.
 */
const toActions = ({ message, link, acknowledgeUrl }: Outgoing): object[] => {
  const headers = { Accept: 'application/json' };
  return [
    ...(acknowledgeUrl === undefined
      ? []
      : [{ action: 'http', label: 'Acknowledge', url: acknowledgeUrl, method: 'POST', headers, clear: true }]),
    // Tapping the notification of an alert opens the alert's link.
    ...(message && link !== undefined ? [{ action: 'view', label: 'Open', url: link }] : []),
  ];
};

/** Escapes JSON to ASCII for use in a header. */
const toAscii = (json: string): string =>
  json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
