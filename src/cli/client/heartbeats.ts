import { ask, defineAskingCommand, printRows } from './ask.ts';
import { toOneLine, toReadableTime, toTable } from './table.ts';

/** What the command prints of a heartbeat. */
interface HeartbeatRow {
  name: string;
  state: string;
  dueAt: string | null;
  lastPingAt: string | null;
  lastRun: { result: string; durationMs: number | null; exitCode: number | null } | null;
  description: string;
}

export const heartbeatsCommand = defineAskingCommand({
  name: 'heartbeats',
  summary: 'List the heartbeats of a server: which jobs are up, late or down, and when they are due.',
  scope: 'incidents:read',
  run: (server, { own: { json } }) =>
    ask(server, 'api/heartbeats', ({ data }) =>
      printRows(data as HeartbeatRow[], json, toHeartbeatTable, 'No heartbeats.\n'),
    ),
});

const toHeartbeatTable = (rows: readonly HeartbeatRow[]): string =>
  toTable(
    ['NAME', 'STATE', 'LAST', 'DUE', 'RUN', 'DESCRIPTION'],
    rows.map(({ name, state, lastPingAt, dueAt, lastRun, description }) => [
      ...[name, state, lastPingAt === null ? '' : toReadableTime(lastPingAt)],
      ...[dueAt === null ? '' : toReadableTime(dueAt), describeRun(lastRun), toOneLine(description)],
    ]),
    { dropped: ['LAST', 'RUN', 'DUE'], fixed: ['STATE', 'LAST', 'DUE'] },
  );

const describeRun = (run: HeartbeatRow['lastRun']): string => {
  if (!run) return '';
  const time = run.durationMs === null ? '' : ` in ${Math.round(run.durationMs / 1000)} s`;
  return `${run.result}${run.exitCode ? ` (${run.exitCode})` : ''}${time}`;
};
