import { markResolved } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Severity } from '../../kit/severity.ts';
import { type ThingMark, toWatchFingerprint, unknownMark } from './fingerprints.ts';
import type { FiringWatchAlert } from './firing-alerts.ts';
import type { KnownWatch } from './known-watch.ts';
import type { Seen } from './schema.ts';
import { describeSeen } from './types/phases.ts';

type WatchAlert = Parameters<AlertSource['raise']>[0];

interface AlertSubject {
  watch: KnownWatch;
  place: string;
  thing: string;
  mark: ThingMark;
  /** True if only the name of the watch is known. Labels then stay unchanged. */
  isGone: boolean;
}

/** Describes the alert about a thing that has been firing since the given time. */
export const describeFiring = (
  subject: AlertSubject,
  { words, seen }: { words: string; seen: Seen | null | undefined },
  level: Severity,
  startsAt: string,
): WatchAlert => {
  const { settings } = subject.watch;
  const details = [settings.message, seen && describeSeen(seen)].filter(Boolean).join('\n\n');
  return {
    ...createCommon(subject),
    ...(details !== '' && { details }),
    level,
    message: needsName(subject) ? `${settings.name}: ${words}` : toThingSentence(words, subject.thing),
    status: 'firing',
    startsAt,
  };
};

/** Describes the resolution of an alert. */
export const describeResolved = (
  subject: AlertSubject,
  words: string,
  { id, level }: FiringWatchAlert,
): WatchAlert => ({
  ...createCommon(subject),
  resolves: id,
  firingLevel: level,
  level: 'INFO',
  message: markResolved(needsName(subject) ? `${subject.watch.settings.name}: ${words}` : words),
  status: 'resolved',
});

const createCommon = (subject: AlertSubject) => {
  const { watch, place, thing, mark, isGone } = subject;
  const { settings, type } = watch;
  return {
    source: `watch/${settings.name}`,
    format: 'watch',
    fingerprint: toWatchFingerprint(settings.name, place, mark + thing),
    // Any machine could have run the check.
    ...(isOfNetwork(subject) && { hostname: '' }),
    labels: isGone ? {} : { watch: settings.name, type: type.name, thing },
  };
};

/** True for a network watch. The type of a deleted watch is unknown, so an empty place identifies a network watch. */
const isOfNetwork = ({ watch: { type, settings }, place, isGone }: AlertSubject): boolean =>
  isGone ? place === '' : type.scope(settings) === 'network';

/** True if the message must contain the name of the watch, because the alert names no machine. */
const needsName = (subject: AlertSubject): boolean => isOfNetwork(subject) && subject.mark !== unknownMark;

/** Capitalizes the first letter, unless the sentence begins with the name of the thing. */
const toThingSentence = (words: string, thing: string): string =>
  words.startsWith(thing.replace(/ .*/, '')) ? words : words.charAt(0).toUpperCase() + words.slice(1);
