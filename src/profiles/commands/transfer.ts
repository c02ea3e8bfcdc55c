import Type, { type Static } from 'typebox';
import { createRecordTables } from '../../storage/postgres/records/record-tables.ts';
import type { MovedRecord } from '../../storage/record-log.ts';
import { SeenIds } from '../../storage/seen-ids.ts';
import { defineTransfer, RecordId } from '../feature.ts';
import { Execution } from './schema.ts';

/** Records of early versions lack some fields. */
const StoredExecution = Type.Object(
  { ...Type.Partial(Execution).properties, id: RecordId },
  { additionalProperties: false },
);

/** The audit, in its order. */
export const auditTransfer = defineTransfer<MovedRecord>({
  name: 'commands',
  lines: { executions: StoredExecution },
  tables: createRecordTables('audit', {
    timeOf: ({ time }) => (typeof time === 'string' ? Date.parse(time) : undefined),
  }),
  begin: () => {
    const seen = new SeenIds();
    return {
      toLine: ({ id, record }) => ['executions', { ...record, id }],
      toChange: (_key, value) => {
        const { id, ...record } = value as Static<typeof StoredExecution>;
        return seen.add(id) ? { change: { id, record } } : { problem: 'id is that of an execution before it' };
      },
    };
  },
});
