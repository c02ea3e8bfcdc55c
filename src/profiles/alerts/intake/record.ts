import type { IncomingHttpHeaders } from 'node:http';
import { toTrace } from '../../../http/request-headers.ts';
import { toSeverity } from '../../severity.ts';
import { toViaField } from '../../via.ts';
import { type AlertRecord, createAlert, type Receipt } from '../alert.ts';
import { clean, cleanLines } from './fields.ts';
import type { ForeignAlert } from './format.ts';
import { hashParts } from './repeats.ts';

/** The most characters of each text. */
const caps = { source: 256, level: 16, message: 4096, hostname: 253, fingerprint: 256, details: 4096 };

/**
 * The record of a foreign alert, with its texts cleaned and cut. The instances that have delivered it before are named in
 * the request's header Via, or in the alert.
 */
export const toRecord = (
  format: string,
  alert: ForeignAlert,
  receipt: Receipt,
  headers: IncomingHttpHeaders,
): AlertRecord => {
  const { status, fingerprint, startsAt, endsAt, labels = {}, link, details, links, via } = alert;
  const isResolved = status === 'resolved';
  const fields = {
    source: clean(alert.source, caps.source),
    level: clean(isResolved ? 'INFO' : alert.level, caps.level),
    message: clean(isResolved ? `Resolved: ${alert.message}` : alert.message, caps.message),
    hostname: clean(alert.hostname, caps.hostname),
  };
  const record: AlertRecord = createAlert(fields, receipt);
  record.format = format;
  record.status = status;
  if (fingerprint) record.fingerprint = clean(fingerprint, caps.fingerprint);
  record.startsAt = startsAt ?? null;
  record.endsAt = endsAt ?? null;
  record.labels = labels;
  if (link) record.link = link;
  if (details) record.details = cleanLines(details, caps.details);
  if (links) record.links = links;
  if (isResolved) record.firingLevel = alert.level;
  if (fingerprint) record.key = toKey(receipt.sender, format, alert);
  return Object.assign(record, toViaField(`${headers.via} ${via}`), toTrace(headers));
};

/**
 * What makes an alert a repeat: the same sender, fingerprint and start, whose last one had the same state and severity. An
 * alert may fire again after it was resolved, even with its former start: Prometheus restores that after an outage. Others
 * may know a fingerprint, so those of one sender say nothing about those of another, and a repeat that is worse than the
 * first is none.
 */
const toKey = (
  sender: string,
  format: string,
  { fingerprint, level, status, state = status, startsAt }: ForeignAlert,
): string => `${hashParts(sender, format, fingerprint, startsAt)}:${state} ${toSeverity(level)}`;
