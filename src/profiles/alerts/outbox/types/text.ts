import type { OutgoingAlert } from '../alert.ts';

/** How urgent receivers show an alert. */
export type Urgency = 'critical' | 'error' | 'warning' | 'info' | 'resolved';

const urgencies: Record<string, Urgency> = {
  CRITICAL: 'critical',
  FATAL: 'critical',
  ERROR: 'error',
  INFO: 'info',
  DEBUG: 'info',
};

/** The urgency of an alert; a warning if its level has an unknown name. */
export const toUrgency = ({ level, status }: OutgoingAlert): Urgency =>
  status === 'resolved' ? 'resolved' : (urgencies[level.toUpperCase()] ?? 'warning');

/** One line about the alert: `ERROR backup on web-1`. */
export const toTitle = ({ level, source, hostname }: OutgoingAlert): string => {
  const place = hostname === '' ? '' : `on ${hostname}`;
  return truncate([level, source, place].filter((part) => part !== '').join(' ') || 'Alert', 250);
};

/** What receivers show below the title; never empty. */
export const toBody = (alert: OutgoingAlert, maxBytes: number): string =>
  truncate(alert.message || toTitle(alert), maxBytes);

/** The text within `maxBytes` of UTF-8; an ellipsis marks what is cut off. */
export const truncate = (text: string, maxBytes: number): string => {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - 3);
  // A character that was cut in half decodes as U+FFFD.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`;
};
