import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { toOffsetTimestamp } from '../../../lib/local-time.ts';
import type { DeliveredAlert } from './alert.ts';

/** Creates an alert that is not stored. Used for a message from signalbox itself. */
export const createTextAlert = (now: Date, message: string): DeliveredAlert => ({
  id: randomUUID(),
  time: toOffsetTimestamp(now),
  source: 'signalbox',
  level: 'INFO',
  severity: 'INFO',
  message,
  hostname: hostname(),
  format: 'native',
  via: 'signalbox/test',
});
