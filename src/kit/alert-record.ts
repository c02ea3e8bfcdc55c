import type { LogRecord } from '../storage/journal/line.ts';

/** Sender of alerts from signalbox itself. No client can have this name. */
export const ownSender = 'signalbox';

/** Matches the names of instances in `via`. */
const hops = /signalbox\/[0-9a-f]{16}/g;

/** Maximum number of instances in `via`. Of a longer list, the last instances are kept. */
const maxHops = 16;

/** Returns the instances named in a string, without duplicates. */
export const readVia = (text: unknown): string[] =>
  typeof text === 'string' ? [...new Set(text.match(hops))].slice(-maxHops) : [];

/**
 * Returns the member `via` of a record, taken from the header of the request. Empty if the header names no instance.
 */
export const toViaField = (text: unknown): { via?: string } => {
  const via = readVia(text);
  return via.length > 0 ? { via: via.join(', ') } : {};
};

/**
 * Returns the value if it is a string, otherwise an empty string. Needed because people may edit stored lines by hand.
 */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

export const toTextOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const resolvedMark = 'Resolved: ';

/** Marks the message of a resolution, unless another signalbox has already done so. */
export const markResolved = (message: string): string =>
  message.startsWith(resolvedMark) ? message : `${resolvedMark}${message}`;

/** Returns the message of a resolved alert without the mark. */
export const withoutResolvedMark = (message: string): string =>
  message.startsWith(resolvedMark) ? message.slice(resolvedMark.length) : message;

/** Host name for an alert whose sender does not give one. */
export const unknownHost = 'unknown';

/** Returns the host name of an alert or incident. Empty if unknown. */
export const toKnownHost = (hostname: string): string => (hostname === unknownHost ? '' : hostname);

/**
 * Returns the time at which a stored alert was received, in Unix milliseconds. Undefined for a line without a time.
 * Version 0.1 wrote local times.
 */
export const readTime = ({ time, timestamp }: LogRecord): number | undefined =>
  Date.parse(toText(time)) || Date.parse(toText(timestamp)) || undefined;

/** Returns the format in which a stored alert was received. */
export const formatOf = ({ format }: LogRecord): string => toText(format) || 'native';

/**
 * True if a stored alert has a key by which another alert can resolve it. A CloudEvent has none, because the id of each
 * event is different.
 */
export const isResolvable = ({ fingerprint, format }: LogRecord): boolean =>
  typeof fingerprint === 'string' && fingerprint !== '' && format !== 'cloudevents';

/** Index for searching and counting alerts. Every user of the alert log must open the log with this index. */
export const alertIndexing = {
  timeOf: readTime,
  keyOf: ({ level }: Record<string, unknown>) => (typeof level === 'string' ? level : ''),
  keys: ['CRITICAL', 'ERROR', 'WARNING', 'INFO'],
};
