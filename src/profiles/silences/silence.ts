import type { MadeSetting } from '../offers.ts';
import { toTimeOrNull, toTimeText } from '../route.ts';
import type { CompiledMatch, Matching } from './matchers.ts';
import type { Silence } from './schema.ts';
import type { SilenceTimes, SilenceWindow, Windows } from './windows.ts';

/** A silence as it is stored; times are Unix milliseconds. */
export interface StoredSilence extends SilenceTimes {
  matching: Matching;
  comment: string;
  createdBy: string;
  /** Who a program says has made it. */
  author?: string;
}

/** A silence in use. */
export interface KnownSilence extends CompiledMatch {
  setting: MadeSetting<StoredSilence>;
  windows: Windows;
}

export const stateOf = (window: SilenceWindow | undefined, at: number): Silence['state'] => {
  if (!window) return 'expired';
  return window.startsAt <= at ? 'active' : 'pending';
};

/** As routes return it. */
export const toSilence = ({ setting, windows }: KnownSilence, at: number): Silence => {
  const { name, value, version, by, at: updatedAt, createdAt } = setting;
  const { matching, startsAt, endsAt, recurring, comment, createdBy } = value;
  const window = windows.findAt(at);
  return {
    id: name,
    state: stateOf(window, at),
    match: 'match' in matching ? matching.match : null,
    matchers: 'matchers' in matching ? [...matching.matchers] : null,
    startsAt: toTimeText(startsAt),
    endsAt: toTimeOrNull(endsAt),
    schedule: recurring?.schedule ?? null,
    timeZone: recurring?.timeZone ?? null,
    minutes: recurring?.minutes ?? null,
    window: window ? { startsAt: toTimeText(window.startsAt), endsAt: toTimeText(window.endsAt) } : null,
    ...{
      comment,
      createdBy,
      createdAt: toTimeText(createdAt),
      updatedBy: by,
      updatedAt: toTimeText(updatedAt),
      version,
    },
  };
};
