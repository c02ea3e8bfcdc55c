import { type AlertRecord, createAlert } from '../alert.ts';
import { toViaField } from '../outbox/via.ts';
import { clean } from './fields.ts';
import type { ForeignAlert } from './format.ts';
import { hashParts } from './repeats.ts';

/** The most characters of each text. */
const caps = { source: 256, level: 16, message: 4096, hostname: 253, fingerprint: 256 };

/**
 * The record of a foreign alert that was received at `now`, with its texts cleaned and cut. `header` is the request's header Via:
 * the instances that have delivered the alert are named there, or in the alert.
 */
export const toRecord = (format: string, alert: ForeignAlert, now: Date, header?: string): AlertRecord => {
  const { status, fingerprint, startsAt, endsAt, labels = {}, link, via } = alert;
  const isResolved = status === 'resolved';
  const fields = {
    source: clean(alert.source, caps.source),
    level: clean(isResolved ? 'INFO' : alert.level, caps.level),
    message: clean(isResolved ? `Resolved: ${alert.message}` : alert.message, caps.message),
    hostname: clean(alert.hostname, caps.hostname),
  };
  const record: AlertRecord = createAlert(fields, now);
  record.format = format;
  record.status = status;
  if (fingerprint) record.fingerprint = clean(fingerprint, caps.fingerprint);
  record.startsAt = startsAt ?? null;
  record.endsAt = endsAt ?? null;
  record.labels = labels;
  if (link) record.link = link;
  if (fingerprint) record.key = toKey(format, alert);
  return Object.assign(record, toViaField(`${header} ${via}`));
};

/**
 * What makes an alert a repeat: the same fingerprint, state and start. Senders that give no start may fire again after they
 * have resolved; there the last state counts.
 */
const toKey = (format: string, { fingerprint, status, state = status, startsAt }: ForeignAlert): string =>
  startsAt === undefined
    ? `${hashParts(format, fingerprint)}:${state}`
    : hashParts(format, fingerprint, state, startsAt);
