import { createAlert } from '../alert.ts';
import type { AlertRecord } from '../alert.ts';
import { clean } from './fields.ts';
import type { ForeignAlert } from './format.ts';
import { toRepeatKey } from './repeat-key.ts';

const caps = { source: 256, level: 16, message: 4096, hostname: 253, fingerprint: 256, via: 1024 };

/** The record of a foreign alert that was received at `now`, with its texts cleaned and cut. */
export const toRecord = (format: string, alert: ForeignAlert, now: Date): AlertRecord => {
  const { status, fingerprint, startsAt, endsAt, labels = {}, link, via } = alert;
  const isResolved = status === 'resolved';
  const fields = {
    source: clean(alert.source, caps.source),
    level: isResolved ? 'INFO' : alert.level,
    message: clean(isResolved ? `Resolved: ${alert.message}` : alert.message, caps.message),
    hostname: clean(alert.hostname, caps.hostname),
  };
  return {
    ...createAlert(fields, now),
    format,
    status,
    ...(fingerprint && { fingerprint: clean(fingerprint, caps.fingerprint) }),
    startsAt: startsAt ?? null,
    endsAt: endsAt ?? null,
    labels,
    ...(link && { link }),
    ...(fingerprint && { key: toRepeatKey(format, { ...alert, fingerprint }) }),
    ...(via && { via: clean(via, caps.via) }),
  };
};
