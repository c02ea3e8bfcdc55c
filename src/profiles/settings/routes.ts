import { sendJson } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { toText } from '../offers.ts';
import { defineRoute, type Route } from '../route.ts';
import { type MadeChange, MadeChangePage, MadeChangeQuery } from './schema.ts';
import type { LoggedSettings } from './store.ts';

const MiB = 1024 * 1024;

export const createAuditRoute = (log: RecordLog, store: LoggedSettings): Route => {
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many lists of changes are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/audit',
    access: 'admin',
    summary: 'List who has changed settings at run time, newest first',
    schema: { operationId: 'listSettingChanges', querystring: MadeChangeQuery, response: { 200: MadeChangePage } },
    handler: async ({ query: { kind, limit, before } }, reply) => {
      const test = (record: StoredRecord): boolean =>
        store.isEffective(record) && (kind === undefined || record['kind'] === kind);
      const search = () => log.search({ before, test, limit, maxBytes: 64 * MiB });
      const { records, next } = await queue.run(search, createClientSignal(reply));
      return sendJson(reply, { count: records.length, data: records.map(toMadeChange), next: next ?? null });
    },
  });
};

/** Without its value, which may be secret. */
const toMadeChange = ({ seq, at, by, kind, name, value }: StoredRecord): MadeChange => ({
  seq,
  at: new Date(Number(at)).toISOString(),
  ...{ by: toText(by), kind: toText(kind), name: toText(name) },
  change: value === null ? 'deleted' : 'put',
});
