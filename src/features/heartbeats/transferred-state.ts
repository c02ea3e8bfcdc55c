import Type, { type Static } from 'typebox';
import { nullable } from '../../kit/shape.ts';
import { Milliseconds } from '../../kit/time.ts';
import { namePattern } from './definition.ts';
import { HeartbeatRun, maxRuns } from './schema.ts';

const { result, exitCode, output } = HeartbeatRun.properties;
const MillisecondsOrNull = nullable(Milliseconds);

/** Heartbeat state in an export, where seqs have no meaning. */
export const TransferredState = Type.Object(
  {
    name: Type.String({ pattern: namePattern, description: 'A name of a heartbeat' }),
    since: Milliseconds,
    base: MillisecondsOrNull,
    startedAt: MillisecondsOrNull,
    lastPingAt: MillisecondsOrNull,
    lastSuccessAt: MillisecondsOrNull,
    problem: nullable(
      Type.Object({
        at: Milliseconds,
        why: Type.Enum(['failed', 'late', 'long']),
        exitCode,
        dueAt: MillisecondsOrNull,
      }),
    ),
    told: nullable(
      Type.Object({
        alert: Type.String(),
        level: Type.String(),
        at: Milliseconds,
        /** False if a later problem still needs its own alert. */
        isCurrent: Type.Boolean(),
      }),
    ),
    paused: nullable(Type.Object({ by: Type.String(), at: Milliseconds })),
    resumedAt: Type.Optional(Milliseconds),
    runs: Type.Array(
      Type.Object({
        startedAt: MillisecondsOrNull,
        endedAt: MillisecondsOrNull,
        result,
        exitCode,
        rid: nullable(Type.String()),
        output,
      }),
      { maxItems: maxRuns },
    ),
  },
  { additionalProperties: false },
);
export type TransferredState = Static<typeof TransferredState>;
