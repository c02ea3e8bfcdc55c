import type { LogRecord } from '../storage/journal/line.ts';

/** signalbox itself as the sender of an alert. No client is recorded by this name. */
export const ownSender = 'signalbox';

/** One instance that delivered an alert, as `via` names it. */
const hops = /signalbox\/[0-9a-f]{16}/g;

/** How many of the last instances are kept. */
const mostHops = 16;

/** The instances that a text names, each once; empty if it names none. */
export const readVia = (text: unknown): string[] =>
  typeof text === 'string' ? [...new Set(text.match(hops))].slice(-mostHops) : [];

/** The member `via` of a record whose alert came with this header; nothing if no instance is named. */
export const toViaField = (text: unknown): { via?: string } => {
  const via = readVia(text);
  return via.length > 0 ? { via: via.join(', ') } : {};
};

/** A member of a stored alert as text; empty where it is none: people may write lines by hand. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

export const toTextOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const resolvedMark = 'Resolved: ';

/** The message of the end of an alert; another signalbox may have marked it before. */
export const markResolved = (message: string): string =>
  message.startsWith(resolvedMark) ? message : `${resolvedMark}${message}`;

/** The message of the alert that ends. */
export const withoutResolvedMark = (message: string): string =>
  message.startsWith(resolvedMark) ? message.slice(resolvedMark.length) : message;

/** Stored as the host name where a sender names none. */
export const unknownHost = 'unknown';

/** The host name of an alert or incident; empty where none is known. */
export const toKnownHost = (hostname: string): string => (hostname === unknownHost ? '' : hostname);

/**
 * When a stored alert was received, in Unix milliseconds; undefined where its line does not say. Version 0.1 wrote only local
 * times.
 */
export const readTime = ({ time, timestamp }: LogRecord): number | undefined =>
  Date.parse(toText(time)) || Date.parse(toText(timestamp)) || undefined;

/** The format that a stored alert came in. */
export const formatOf = ({ format }: LogRecord): string => toText(format) || 'native';

/** Whether a stored alert says what it is about, so that another one can end it. Each CloudEvent has an id of its own. */
export const isAboutSomething = ({ fingerprint, format }: LogRecord): boolean =>
  typeof fingerprint === 'string' && fingerprint !== '' && format !== 'cloudevents';

/** What is kept of alerts to search and count them, whoever opens their log. */
export const alertIndexing = {
  timeOf: readTime,
  keyOf: ({ level }: Record<string, unknown>) => (typeof level === 'string' ? level : ''),
  keys: ['CRITICAL', 'ERROR', 'WARNING', 'INFO'],
};
