import type { Severity } from '../../severity.ts';
import type { OutgoingAlert } from '../delivery-alert.ts';

/** A request of a destination: always a POST, with `via` added by the sender. */
export interface OutgoingRequest {
  /** Where it goes on the destination's server: path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Where requests of a destination go. */
export interface Place {
  url: URL;
  /** The current secret first, then the previous one; empty if there is none. */
  secrets: readonly string[];
}

/** A kind of receiver. */
export interface DestinationType {
  /** As `type` in the config file. */
  name: string;
  /** Whether a destination has a secret. */
  secret: 'none' | 'optional' | 'required';
  /** The header that is the secret, in lower case; undefined if no header is. */
  secretHeader?: string;
  /** How many secrets it can use at a time; one unless stated. */
  secrets?: number;
  /** Why a secret cannot be used, as a clause that does not show it. */
  findSecretProblem?(secret: string): string | undefined;
  /** The request that delivers the alert at `now`. */
  toRequest(alert: OutgoingAlert, place: Place, now: Date): OutgoingRequest;
}

/** Path and query of the URL as it is configured. */
export const toPath = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** The path with `end` appended, unless it ends so already. */
export const toPathWith = ({ pathname, search }: URL, end: string): string => {
  const base = pathname.replace(/\/+$/, '');
  return `${base.endsWith(end) ? base : `${base}${end}`}${search}`;
};

export const jsonType = { 'content-type': 'application/json' };

/** The header of receivers, or proxies before them, that take a token. */
export const toBearer = ([secret]: readonly string[]): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` };

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
