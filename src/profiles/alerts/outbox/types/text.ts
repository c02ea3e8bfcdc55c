import type { Severity } from '../../../severity.ts';
import type { OutgoingAlert } from '../alert.ts';

/** How urgent receivers show an alert. */
export type Urgency = 'critical' | 'error' | 'warning' | 'info' | 'resolved';

const urgencies: Record<Severity, Urgency> = { CRITICAL: 'critical', ERROR: 'error', WARNING: 'warning', INFO: 'info' };

/** The urgency of an alert. */
export const toUrgency = ({ severity, status }: OutgoingAlert): Urgency =>
  status === 'resolved' ? 'resolved' : urgencies[severity];

/** One line about the alert: `ERROR backup on web-1`. */
export const toTitle = ({ level, source, hostname }: OutgoingAlert): string => {
  const place = hostname === '' ? '' : `on ${hostname}`;
  return truncate([level, source, place].filter((part) => part !== '').join(' ') || 'Alert', 250);
};

/** What receivers show below the title: message, details and links; never empty. */
export const toBody = (alert: OutgoingAlert, maxBytes: number): string => {
  const { message, details = '', links = {} } = alert;
  const named = Object.entries(links).map(([name, url]) => `${name}: ${url}`);
  const parts = [message || toTitle(alert), details, named.join('\n')];
  return truncate(parts.filter((part) => part !== '').join('\n\n'), maxBytes);
};

/** The text within `maxBytes` of UTF-8; an ellipsis marks what is cut off. */
export const truncate = (text: string, maxBytes: number): string => {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - 3);
  // A character that was cut in half decodes as U+FFFD.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`;
};
