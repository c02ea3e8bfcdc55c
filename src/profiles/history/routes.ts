import type { Access } from '../../auth/guard.ts';
import { parseTime } from '../../http/request/time.ts';
import { HttpError } from '../../http/response/errors.ts';
import { ownJson, type Rows, sendList } from '../../http/response/json.ts';
import { toOffsetTimestamp } from '../../http/response/timestamp.ts';
import { defineRoute, type Route } from '../route.ts';
import { alertLevels, alertsAt, disksAt, hostColumns } from './columns.ts';
import type { Disks } from './file.ts';
import type { Ring } from './ring.ts';
import { History, HistoryQuery } from './schema.ts';

interface HistoryParts {
  rings: readonly Ring[];
  disks: Disks;
  clock: () => Date;
  access: Access;
}

export const createHistoryRoute = ({ rings, disks, clock, access }: HistoryParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/history',
    access,
    summary: 'Report how processor, memory, load, disks, network and alerts have developed',
    schema: { operationId: 'getHistory', querystring: HistoryQuery, response: { 200: History } },
    handler: ({ query: { since, step } }, reply) => {
      const ring = rings.find((each) => each.step === step);
      if (!ring) throw new HttpError('invalid', `step must be ${rings.map((each) => each.step).join(' or ')}`);
      const now = Math.floor(clock().getTime() / 1000);
      const range = ring.findRange(since === undefined ? 0 : toSeconds(since), now);
      const { from, to } = range ?? { from: now, to: now - step };
      const count = (to - from) / step + 1;
      const start = toOffsetTimestamp(new Date(from * 1000));
      const write = (column: number): string => `[${Array.from(ring.list(column, from, to), toJson).join(',')}]`;
      return sendList(reply, {
        opening: `{"step":${step},"start":"${start}","count":${count},`,
        pieces: listPieces(disks, write),
        closing: '}',
      });
    },
  });

const toSeconds = (text: string): number => {
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : parseTime(text) / 1000;
  if (Number.isNaN(seconds)) {
    throw new HttpError('invalid', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds');
  }
  return Math.ceil(seconds);
};

/** Five digits are enough for shares and small rates; unknown values are null. */
const toJson = (value: number): string => {
  if (!Number.isFinite(value)) return 'null';
  return value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(5)));
};

/** Members of the document, one for each column, so that other requests run in between. */
function* listPieces(disks: Disks, write: (column: number) => string): Generator<Rows> {
  for (const [column, name] of hostColumns.entries()) yield toPiece(`"${name}":${write(column)}`);
  const alerts = alertLevels.map((level, index) => `"${level}":${write(alertsAt + index)}`);
  yield toPiece(`"alerts":{${alerts.join(',')}}`);
  const rows = disks.map((mountPath, index) => {
    const column = disksAt + 2 * index;
    return `{"mountPath":${JSON.stringify(mountPath)},"used":${write(column)},"total":${write(column + 1)}}`;
  });
  yield toPiece(`"disks":[${rows.join(',')}]`);
}

const toPiece = (text: string): Rows => Object.assign([], { [ownJson]: text });
