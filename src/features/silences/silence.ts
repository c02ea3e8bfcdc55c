import Type from 'typebox';
import type { RuntimeSetting } from '../../kit/offers.ts';
import { toTimeOrNull, toTimeText } from '../../kit/route.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { type CompiledMatch, type Matching, pickMatcher } from './matchers.ts';
import type { Silence } from './schema.ts';
import type { SilenceTimes, SilenceWindow, Windows } from './windows.ts';

/** Unix milliseconds of the last time that a `Date` can have. */
const maxTime = 8.64e15;

/** A silence as it is stored; times are Unix milliseconds. */
export interface StoredSilence extends SilenceTimes {
  matching: Matching;
  comment: string;
  createdBy: string;
  /** Who a program says has made it. */
  author?: string;
}

const texts = Type.Record(Type.String(), Type.String());
const time = Type.Number({ minimum: -maxTime, maximum: maxTime });

const checkStored = createSchemaCheck(
  Type.Object({
    matching: Type.Union([
      Type.Object({
        match: Type.Object(
          { labels: Type.Optional(texts) },
          { additionalProperties: Type.Union([texts, Type.String()]) },
        ),
      }),
      Type.Object({
        matchers: Type.Array(
          Type.Object({ name: Type.String(), value: Type.String(), isRegex: Type.Boolean(), isEqual: Type.Boolean() }),
        ),
      }),
    ]),
    startsAt: time,
    endsAt: Type.Union([time, Type.Null()]),
    recurring: Type.Optional(
      Type.Object({ schedule: Type.String(), timeZone: Type.String(), minutes: Type.Number({ minimum: 1 }) }),
    ),
    comment: Type.String(),
    createdBy: Type.String(),
    author: Type.Optional(Type.String()),
  }),
);

export const isStoredSilence = (value: unknown): value is StoredSilence => checkStored(value);

/** A silence as it is known, whether it can be used or not. */
export interface KnownSilence {
  /** Its id. */
  name: string;
  setting: RuntimeSetting<StoredSilence>;
  windows: Windows;
  /** What it matches, compiled at the first call. @throws HttpError where it cannot be used */
  match(): CompiledMatch;
  /** Why it silences nothing although its time has come. */
  problem: string | undefined;
}

export const stateOf = (window: SilenceWindow | undefined, at: number): Silence['state'] => {
  if (!window) return 'expired';
  return window.startsAt <= at ? 'active' : 'pending';
};

/** As routes return it. */
export const toSilence = ({ setting, windows, problem }: KnownSilence, at: number): Silence => {
  const { name, value, version, by, at: updatedAt, createdAt } = setting;
  const { matching, startsAt, endsAt, recurring, comment, createdBy } = value;
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
    comment,
    createdBy,
    createdAt: toTimeText(createdAt),
    updatedBy: by,
    updatedAt: toTimeText(updatedAt),
    version,
  };
};
