import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { toTimeOrNull, toTimeText } from '../../kit/time.ts';
import { type CompiledMatch, pickMatcher } from './matchers.ts';
import type { Silence } from './schema.ts';
import type { StoredSilence } from './stored.ts';
import type { SilenceWindow, Windows } from './windows.ts';

/** Stored silence, usable or not. */
export interface KnownSilence {
  /** Id of the silence. */
  name: string;
  setting: RuntimeSetting<StoredSilence>;
  windows: Windows;
  /** Returns the match. It is compiled on the first call. Throws an HttpError if the match is unusable. */
  match(): CompiledMatch;
  /** Reason why the silence has no effect. */
  problem: string | undefined;
}

export const stateOf = (window: SilenceWindow | undefined, at: number): Silence['state'] => {
  if (!window) return 'expired';
  return window.startsAt <= at ? 'active' : 'pending';
};

/** Converts a silence to the API's form. */
export const toSilence = ({ setting, windows, problem }: KnownSilence, at: number): Silence => {
  const { name, value, version, by, at: updatedAt, createdAt } = setting;
  const { matching, startsAt, endsAt, recurring, maintenance = false, comment, createdBy } = value;
  const window = windows.findAt(at);
  return {
    id: name,
    state: stateOf(window, at),
    match: 'match' in matching ? matching.match : null,
    matchers: 'matchers' in matching ? matching.matchers.map(pickMatcher) : null,
    startsAt: toTimeText(startsAt),
    endsAt: toTimeOrNull(endsAt),
    schedule: recurring?.schedule ?? null,
    timeZone: recurring?.timeZone ?? null,
    minutes: recurring?.minutes ?? null,
    problem: window ? (problem ?? null) : null,
    window: window ? { startsAt: toTimeText(window.startsAt), endsAt: toTimeText(window.endsAt) } : null,
    maintenance,
    comment,
    createdBy,
    createdAt: toTimeText(createdAt),
    updatedBy: by,
    updatedAt: toTimeText(updatedAt),
    version,
  };
};
