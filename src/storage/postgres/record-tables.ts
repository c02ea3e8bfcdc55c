import type { LogRecord } from '../journal/line.ts';
import type { MovedTable } from '../moved-store.ts';
import { rememberedMs } from '../recent-keys.ts';
import type { MovedRecord } from '../record-log.ts';
import { insertRecords, type RememberedKey, rememberKeys } from './record-collection.ts';
import { toLevel } from './record-search.ts';

type Key = Pick<RememberedKey, 'hash' | 'state'>;

/** What the table's columns have of a record. */
interface Columns {
  /** Milliseconds since 1970; undefined where the record does not say. */
  timeOf(record: LogRecord): number | undefined;
  levelOf?(record: LogRecord): unknown;
  /** How a record has its key, which a record of the table may lack while it is remembered. */
  keys?: {
    read(record: LogRecord): Key | undefined;
    add(record: LogRecord, key: Key): LogRecord;
  };
}

/** No instance has received what was imported, so none delivers it. */
const noInstance = '';

/** The table of a log, as export and import see it. Records keep their ids and get seqs from 1. */
export const createRecordTable = (
  name: 'alert' | 'audit',
  { timeOf, levelOf = () => null, keys }: Columns,
): MovedTable<MovedRecord> => ({
  name,
  queries: [
    {
      text: keys
        ? `SELECT log.id, body, hash, state FROM signalbox.${name} AS log
            LEFT JOIN signalbox.repeat ON repeat.id = log.id ORDER BY seq`
        : `SELECT id, body FROM signalbox.${name} ORDER BY seq`,
      toChange: ({ id, body, hash, state }) => {
        const record: LogRecord = JSON.parse(body);
        const lacksKey = keys && typeof hash === 'string' && keys.read(record) === undefined;
        return { id, record: lacksKey ? keys.add(record, { hash, state }) : record };
      },
    },
  ],
  insert: (records, gate) => {
    const now = Date.now();
    const remembered = new Map<string, RememberedKey>();
    const rows = records.map(({ id, record }) => {
      const at = timeOf(record) ?? now;
      const key = keys?.read(record);
      if (key && now - at < rememberedMs) remembered.set(key.hash, { ...key, id, at });
      gate.lastId += 1;
      return { seq: gate.lastId, id, at, level: toLevel(levelOf(record)), body: JSON.stringify(record) };
    });
    const insert = insertRecords(name, noInstance, rows);
    return remembered.size > 0 ? [insert, rememberKeys([...remembered.values()])] : [insert];
  },
});
