import type { Incident, Silence } from 'signalbox/client';
import { isLike } from '../../src/lib/wildcards.ts';
import { client } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toDuration, toMinute } from '../format.ts';
import { text } from '../strings/index.ts';
import { describeSchedule } from './schedule.ts';

const words = text.silences;

/** Maximum number of loaded silences. */
export const mostSilences = 1000;

/** Loaded silences, and the total number of silences. */
export interface FoundSilences {
  total: number;
  data: readonly Silence[];
}

/** Loads active silences, then upcoming silences. */
export const loadCurrent = async (signal: AbortSignal): Promise<FoundSilences> => {
  const [active, pending] = await Promise.all([
    client.listSilences({ state: 'active', limit: mostSilences }, { signal }),
    client.listSilences({ state: 'pending', limit: mostSilences }, { signal }),
  ]);
  return { total: active.total + pending.total, data: [...active.data, ...pending.data] };
};

export type SilenceMatch = NonNullable<Silence['match']>;
const parts = ['source', 'hostname', 'level', 'text'] as const;

/** Describes matchers in words: `source backup, host web-1`. */
export const describeMatch = ({ match, matchers }: Pick<Silence, 'match' | 'matchers'>): string => {
  if (!match) {
    return (matchers ?? []).map(({ name, value, ...kind }) => `${name}${toOperator(kind)}"${value}"`).join(', ');
  }
  return [
    ...parts.flatMap((name) => (match[name] ? [words.part(words.parts[name], match[name])] : [])),
    ...Object.entries(match.labels ?? {}).map(([name, pattern]) => words.part(words.label(name), pattern)),
  ].join(', ');
};

type Matcher = NonNullable<Silence['matchers']>[number];

const toOperator = ({ isEqual, isRegex }: Pick<Matcher, 'isEqual' | 'isRegex'>): string => {
  if (isRegex) return isEqual ? '=~' : '!~';
  return isEqual ? '=' : '!=';
};

/** Returns the silence with its current state. The state in the server's response may be outdated. */
export const toPresentState = ({ state, window }: Silence): Silence['state'] => {
  if (state !== 'pending' || !window || untilTime(Date.parse(window.startsAt)) > 0) return state;
  return 'active';
};

/**
 * Describes a silence's schedule in two lines, for example `Saturday at 02:00 for 1 h` and `next Sat 02:00`, or `until
 * 14:30` and `25 min left`.
 */
export const toWhen = (silence: Silence): string[] => {
  const { window, schedule, startsAt, endsAt } = silence;
  const state = toPresentState(silence);
  const end = endsAt ?? window?.endsAt;
  if (state === 'expired') return [end ? words.ended(toMinute(Date.parse(end))) : words.states.expired];
  const windowEnd = Date.parse(window?.endsAt ?? '');
  if (schedule !== null) {
    const windowStart = Date.parse(window?.startsAt ?? '');
    const isNow = state === 'active';
    return [describeSchedule(silence), isNow ? words.now(toMinute(windowEnd)) : words.next(toMinute(windowStart))];
  }
  if (state === 'pending') return [words.fromUntil(toMinute(Date.parse(startsAt)), toMinute(windowEnd))];
  const left = Math.max(0, untilTime(windowEnd) / 1000);
  return [words.until(toMinute(windowEnd)), words.left(toDuration(left))];
};

/** Describes a silence's schedule on one line. */
export const describeWhen = (silence: Silence): string => toWhen(silence).join(' · ');

/** True if the silence matches the incident by the server's rules. */
export const silenceMatches = (match: SilenceMatch, { source, hostname, level, title, labels }: Incident): boolean => {
  const subject = { source, hostname, level, text: title };
  const isText = (value: string | undefined, pattern: string): boolean =>
    value !== undefined && isLike(value.toLowerCase(), pattern.toLowerCase());
  return (
    parts.every((name) => match[name] === undefined || isText(subject[name], match[name])) &&
    Object.entries(match.labels ?? {}).every(([name, pattern]) => isText(labels?.[name], pattern))
  );
};
