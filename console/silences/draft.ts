import type { NewSilence, Silence } from 'signalbox/client';
import { serverNow } from '../clock.ts';
import { readSchedule, type ScheduleDraft, toScheduleDraft } from '../live/schedule.ts';
import type { SilenceMatch } from '../live/silences.ts';
import type { Params } from '../router.ts';
import { text } from '../strings/index.ts';
import { fromTyped, toTyped, zone } from '../zone.ts';

const words = text.silences;
const minuteMs = 60_000;

/** Schedule modes of the form. */
export const silenceModes = ['for', 'until', 'weekly', 'cron'] as const;

/** Form state. */
export interface SilenceDraft extends ScheduleDraft {
  source: string;
  hostname: string;
  level: string;
  text: string;
  labels: string;
  comment: string;
  maintenance: boolean;
  mode: (typeof silenceModes)[number];
  /** Minutes from now, for the mode `for`. */
  length: string;
  start: string;
  end: string;
  minutes: string;
}

const blank = (): SilenceDraft => ({
  source: '',
  hostname: '',
  level: '',
  text: '',
  labels: '',
  comment: '',
  maintenance: false,
  mode: 'for',
  length: '60',
  start: '',
  end: '',
  days: [],
  time: '',
  expression: '',
  minutes: '60',
  timeZone: zone.value,
});

/** Returns the draft of a new silence, prefilled from the URL. */
export const toNewSilence = ({ source = '', hostname = '', level = '', text: pattern = '' }: Params): SilenceDraft => ({
  ...blank(),
  source,
  hostname,
  level,
  text: pattern,
});

/** Returns the draft of an existing silence, either to edit it or to repeat it after its end. */
export const toSilenceDraft = ({
  match,
  comment,
  maintenance,
  state,
  schedule,
  minutes,
  timeZone,
  startsAt,
  endsAt,
}: Silence): SilenceDraft => {
  const { source = '', hostname = '', level = '', text: pattern = '', labels = {} } = match ?? {};
  const lines = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const about = { ...blank(), source, hostname, level, text: pattern, labels: lines.join('\n'), comment, maintenance };
  const end = endsAt === null || state === 'expired' ? '' : toTyped(Date.parse(endsAt));
  if (schedule !== null) {
    return { ...about, ...toScheduleDraft(schedule, timeZone), minutes: `${minutes}`, end };
  }
  if (state === 'expired') return about;
  return { ...about, mode: 'until', start: state === 'pending' ? toTyped(Date.parse(startsAt)) : '', end };
};

/** Returns the matchers of a draft. Throws an Error with a message for the user. */
export const toMatch = ({ source, hostname, level, text: pattern, labels }: SilenceDraft): SilenceMatch => {
  const lines = labels.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => {
    const [, name = '', value = ''] = /^\s*([^=]*?)\s*=(.*)$/s.exec(line) ?? [];
    if (name === '') throw new Error(words.badLabel(line));
    return [name, value.trim()] as const;
  });
  const match = {
    ...(source.trim() && { source: source.trim() }),
    ...(hostname.trim() && { hostname: hostname.trim() }),
    ...(level && { level }),
    ...(pattern.trim() && { text: pattern.trim() }),
    ...(pairs.length > 0 && { labels: Object.fromEntries(pairs) }),
  };
  if (Object.keys(match).length === 0) throw new Error(words.noMatch);
  return match;
};

/**
 * Returns the request body for a draft. `before` is the silence being edited. Throws an Error with a message for the
 * user.
 */
export const toSilenceBody = (draft: SilenceDraft, before?: Silence): NewSilence => {
  const match = toMatch(draft);
  const { maintenance, comment } = draft;
  return { match, ...toTimes(draft, before), maintenance, comment: comment.trim() };
};

const toTimes = (draft: SilenceDraft, before: Silence | undefined): Omit<NewSilence, 'match'> => {
  const { mode, length, start, end } = draft;
  const now = serverNow();
  if (mode === 'for') {
    const endsAt = toText(now + Number(length) * minuteMs);
    return before?.state === 'pending' ? { startsAt: toText(now), endsAt } : { endsAt };
  }
  const startsAt = start && { startsAt: readTyped(start, before?.startsAt, words.noStart) };
  const endsAt = end && { endsAt: readTyped(end, before?.endsAt, words.noTime) };
  if (mode === 'until') {
    if (!endsAt || Date.parse(endsAt.endsAt) <= now) throw new Error(words.noTime);
    return { ...startsAt, ...endsAt };
  }
  return { ...readSchedule(draft), minutes: Number(draft.minutes), ...endsAt };
};

/** Returns the time in a field. An unchanged time keeps its seconds. */
const readTyped = (typed: string, before: string | null | undefined, problem: string): string => {
  if (before && typed === toTyped(Date.parse(before))) return before;
  const at = fromTyped(typed);
  if (Number.isNaN(at)) throw new Error(problem);
  return toText(at);
};

const toText = (at: number): string => new Date(at).toISOString();
