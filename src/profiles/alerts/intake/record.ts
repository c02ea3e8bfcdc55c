import type { IncomingHttpHeaders } from 'node:http';
import { toTrace } from '../../../http/request/traceparent.ts';
import { type AlertRecord, createAlert } from '../alert.ts';
import { toViaField } from '../outbox/via.ts';
import { clean } from './fields.ts';
import type { ForeignAlert } from './format.ts';
import { hashParts } from './repeats.ts';

/** The most characters of each text. */
const caps = { source: 256, level: 16, message: 4096, hostname: 253, fingerprint: 256 };

/**
 * The record of a foreign alert that was received at `now`, with its texts cleaned and cut. The instances that have
 * delivered it before are named in the request's header Via, or in the alert.
 */
export const toRecord = (format: string, alert: ForeignAlert, now: Date, headers: IncomingHttpHeaders): AlertRecord => {
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
  return Object.assign(record, toViaField(`${headers.via} ${via}`), toTrace(headers));
};

/**
 * What makes an alert a repeat: the same fingerprint, state and start. Senders that give no start may fire again after they
 * have resolved; there the last state counts.
 */
const toKey = (format: string, { fingerprint, status, state = status, startsAt }: ForeignAlert): string =>
  startsAt === undefined
    ? `${hashParts(format, fingerprint)}:${state}`
    : hashParts(format, fingerprint, state, startsAt);
