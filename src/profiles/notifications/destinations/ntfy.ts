import { type DestinationType, toBearer, toBody, toPath, toTitle, toUrgency, type Urgency } from './type.ts';

/** ntfy turns longer messages into attachments. */
const maxBytes = 4096;

const looks: Record<Urgency, [priority: string, tag: string]> = {
  critical: ['5', 'rotating_light'],
  error: ['4', 'x'],
  warning: ['3', 'warning'],
  info: ['2', 'information_source'],
  resolved: ['2', 'white_check_mark'],
};

/** ntfy: `url` is the topic's, and the secret an access token. */
export const ntfyDestination: DestinationType = {
  name: 'ntfy',
  secret: 'optional',
  secretHeader: 'authorization',
  toRequest: (alert, { url, secrets }) => {
    const [priority, tags] = looks[toUrgency(alert)];
    return {
      path: toPath(url),
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        title: toHeader(toTitle(alert)),
        priority,
        tags,
        ...(alert.link !== undefined && { click: toHeader(alert.link) }),
        ...toBearer(secrets),
      },
      body: toBody(alert, maxBytes),
    };
  },
};

/** Text that is not printable ASCII as RFC 2047 has it, which ntfy decodes. */
const toHeader = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
