import { createHmac } from 'node:crypto';
import { toIncidentFacts } from '../../../kit/incident.ts';
import type { Outgoing } from '../message/outgoing.ts';
import { type DestinationType, toPath } from './type.ts';

const prefix = 'whsec_';
/** Minimum length of a secret in bytes. */
const minimumBytes = 16;

/** Standard Webhooks 1.0. The receiver verifies the signature and recognizes repeated deliveries by their id. */
export const webhookDestination: DestinationType = {
  name: 'webhook',
  secret: 'optional',
  secrets: 2,
  findSecretProblem: (secret) => {
    const text = toBase64(secret);
    const bytes = Buffer.from(text, 'base64');
    const isBase64 = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
    return isBase64 && bytes.length >= minimumBytes
      ? undefined
      : `must be whsec_, followed by at least ${minimumBytes} bytes in Base64`;
  },
  toRequest: (outgoing, { url, secrets }, now) => {
    const { id } = outgoing;
    const body = JSON.stringify(toPayload(outgoing));
    const timestamp = String(Math.floor(now.getTime() / 1000));
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      // Another signalbox stores a repeated delivery only once.
      'idempotency-key': id,
    };
    if (secrets.length > 0) {
      const signed = `${id}.${timestamp}.${body}`;
      headers['webhook-signature'] = secrets.map((secret) => `v1,${sign(secret, signed)}`).join(' ');
    }
    return { path: toPath(url), headers, body };
  },
};

const toPayload = ({ alert, message, time, link, acknowledgeUrl }: Outgoing): object => {
  if (alert) return { type: 'alert', timestamp: time, ...alert, time: undefined, origin: undefined, ended: undefined };
  const { id, what, via, title, body, severity, updates } = message;
  const incidents = updates.map((update) => ({ what: update.what, ...toIncidentFacts(update.incident) }));
  const data = { message: { title, body, severity }, link, acknowledgeUrl, incidents };
  return { type: `incident.${what}`, timestamp: time, id, via, data };
};

const toBase64 = (secret: string): string => (secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);

const sign = (secret: string, text: string): string =>
  createHmac('sha256', Buffer.from(toBase64(secret), 'base64'))
    .update(text)
    .digest('base64');
