import { toSettingFacts } from '../../kit/setting-kind.ts';
import { toTimeOrNull } from '../../kit/time.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import type { Judgement } from './judge.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { StoredRun } from './runs.ts';
import type { Heartbeat, HeartbeatRun, RecentRun } from './schema.ts';

/** Converts a heartbeat to its form in responses. Only Admins see the address. */
export const toHeartbeat = (
  { name, uuid, definition, setting }: KnownHeartbeat,
  state: HeartbeatState | undefined,
  { status, dueAt }: Judgement,
  isForAdmin: boolean,
): Heartbeat => {
  const { period, schedule, timeZone, grace, maxRunMinutes, level, description, tags, dependsOn, open } = definition;
  const last = state?.runs.findLast(({ result }) => result !== 'log');
  return {
    name,
    state: status,
    dueAt: toTimeOrNull(dueAt),
    lastPingAt: toTimeOrNull(state?.lastPingAt),
    lastSuccessAt: toTimeOrNull(state?.lastSuccessAt),
    downAt: toTimeOrNull(state?.problem?.at),
    downReason: state?.problem?.why ?? null,
    lastRun: last ? toRun(last) : null,
    uuid: isForAdmin ? (uuid ?? null) : null,
    period: period ?? null,
    schedule: schedule ?? null,
    timeZone: timeZone ?? null,
    grace: grace ?? null,
    maxRunMinutes: maxRunMinutes ?? null,
    level: level ?? 'ERROR',
    description: description ?? '',
    tags: tags ?? [],
    dependsOn: dependsOn ?? [],
    open: open ?? false,
    pausedBy: state?.paused?.by ?? null,
    pausedAt: toTimeOrNull(state?.paused?.at),
    resumedAt: toTimeOrNull(state?.resumedAt),
    isConfigured: setting === undefined,
    ...toSettingFacts(setting),
    version: setting?.version ?? 0,
  };
};

/** Returns the last runs, oldest first. Leaves out texts sent outside a run. */
export const toRecentRuns = (state: HeartbeatState | undefined, count: number): RecentRun[] =>
  (state?.runs ?? [])
    .filter((run) => run.result !== 'log')
    .slice(-count)
    .map(({ startedAt, endedAt, result }) => ({
      at: toTimeOrNull(endedAt ?? startedAt) ?? '',
      durationMs: toDuration(startedAt, endedAt),
      result,
    }));

export const toRun = ({ startedAt, endedAt, result, exitCode, rid, output }: StoredRun): HeartbeatRun => ({
  startedAt: toTimeOrNull(startedAt),
  endedAt: toTimeOrNull(endedAt),
  durationMs: toDuration(startedAt, endedAt),
  result,
  exitCode,
  rid,
  output,
});

const toDuration = (startedAt: number | null, endedAt: number | null): number | null =>
  startedAt === null || endedAt === null ? null : Math.max(0, endedAt - startedAt);
