import Type, { type Static } from 'typebox';
import type { RuntimeSetting } from '../../kit/offers.ts';
import { toTimeOrNull, toTimeText } from '../../kit/route.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { type CompiledMatch, type Matching, pickMatcher } from './matchers.ts';
import type { Silence } from './schema.ts';
import type { SilenceWindow, Windows } from './windows.ts';

/** Unix milliseconds of the last time that a `Date` can have. */
const maxTime = 8.64e15;

const texts = Type.Record(Type.String(), Type.String());
const time = Type.Number({ minimum: -maxTime, maximum: maxTime });

/** Members that another version has stored are no fault here: what they mean is unknown, so compiling them fails. */
const StoredMatching = Type.Union([
  Type.Object({
    match: Type.Object({ labels: Type.Optional(texts) }, { additionalProperties: Type.Union([texts, Type.String()]) }),
  }),
  Type.Object({
    matchers: Type.Array(
      Type.Object({ name: Type.String(), value: Type.String(), isRegex: Type.Boolean(), isEqual: Type.Boolean() }),
    ),
  }),
]);

/** A silence as it is stored; times are Unix milliseconds. */
const StoredSilence = Type.Object({
  matching: Type.Unsafe<Matching>(StoredMatching),
  startsAt: time,
  /** Null for a recurring one that never ends. */
  endsAt: Type.Union([time, Type.Null()]),
  recurring: Type.Optional(
    Type.Object({ schedule: Type.String(), timeZone: Type.String(), minutes: Type.Number({ minimum: 1 }) }),
  ),
  comment: Type.String(),
  createdBy: Type.String(),
  /** Who a program says has made it. */
  author: Type.Optional(Type.String()),
});
export type StoredSilence = Static<typeof StoredSilence>;

const checkStored = createSchemaCheck(StoredSilence);

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
