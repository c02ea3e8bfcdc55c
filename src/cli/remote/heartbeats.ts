import type { Heartbeat } from '../../features/heartbeats/schema.ts';
import { defineAskingCommand, type ListReply } from './ask.ts';
import { foldSpaces, toReadableTime, toTable } from './table.ts';

export const heartbeatsCommand = defineAskingCommand({
  name: 'heartbeats',
  summary: 'List the heartbeats of a server: jobs that are up, late or down, and their due times.',
  scope: 'incidents:read',
  run: async ({ ask, show }) => {
    const { data } = await ask<ListReply<Heartbeat>>('api/heartbeats');
    show(data, toHeartbeatTable, 'No heartbeats.\n');
  },
});

const toHeartbeatTable = (rows: readonly Heartbeat[]): string =>
  toTable(
    ['NAME', 'STATE', 'LAST', 'DUE', 'RUN', 'DESCRIPTION'],
    rows.map(({ name, state, lastPingAt, dueAt, lastRun, description }) => [
      ...[name, state, lastPingAt === null ? '' : toReadableTime(lastPingAt)],
      ...[dueAt === null ? '' : toReadableTime(dueAt), describeRun(lastRun), foldSpaces(description)],
    ]),
    { dropped: ['LAST', 'RUN', 'DUE'], fixed: ['STATE', 'LAST', 'DUE'] },
  );

const describeRun = (run: Heartbeat['lastRun']): string => {
  if (!run) return '';
  const time = run.durationMs === null ? '' : ` in ${Math.round(run.durationMs / 1000)} s`;
  return `${run.result}${run.exitCode ? ` (${run.exitCode})` : ''}${time}`;
};
