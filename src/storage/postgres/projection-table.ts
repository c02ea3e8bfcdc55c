import type { PortableRecord, PortableTable } from '../portable-store.ts';
import { createRecordTable } from './record-collection.ts';

/** Creates the table for the log of a projection, for exports. The snapshot is stored under the same name. */
export const createProjectionTable = (log: 'availability' | 'status_page'): PortableTable<PortableRecord> => ({
  ...createRecordTable(log, { timeOf: ({ at }) => Number(at) }),
  queries: [],
  projection: { tables: { tables: [log], wanted: [log], projection: log } },
});
