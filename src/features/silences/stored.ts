import Type, { type Static } from 'typebox';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import type { Matching } from './matchers.ts';

/** Latest possible time of a `Date`, in Unix milliseconds. */
const maxTime = 8.64e15;

const texts = Type.Record(Type.String(), Type.String());
const time = Type.Number({ minimum: -maxTime, maximum: maxTime });

/**
 * Schema of stored patterns. Allows unknown members, because another version may have stored them. Compiling such
 * patterns fails.
 */
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

/** Stored form of a silence. Times are Unix milliseconds. */
const StoredSilence = Type.Object({
  matching: Type.Unsafe<Matching>(StoredMatching),
  startsAt: time,
  /** End. Null for a recurring silence that never ends. */
  endsAt: Type.Union([time, Type.Null()]),
  recurring: Type.Optional(
    Type.Object({ schedule: Type.String(), timeZone: Type.String(), minutes: Type.Number({ minimum: 1 }) }),
  ),
  /** True if checks that the silence matches are in maintenance. */
  maintenance: Type.Optional(Type.Boolean()),
  comment: Type.String(),
  createdBy: Type.String(),
  /** Author named by a program on behalf of a user. */
  author: Type.Optional(Type.String()),
});
export type StoredSilence = Static<typeof StoredSilence>;

const checkStored = createSchemaCheck(StoredSilence);

export const isStoredSilence = (value: unknown): value is StoredSilence => checkStored(value);
