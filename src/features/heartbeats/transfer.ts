import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer } from '../../kit/feature.ts';
import { createId } from '../../storage/journal/line.ts';
import type { PortableRecord } from '../../storage/portable-store.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import { type HeartbeatEntry, HeartbeatsFold } from './fold.ts';
import { toTransferred } from './heartbeat-state.ts';
import { maxOutputLength } from './schema.ts';
import { createHeartbeatSnapshot } from './shared-snapshot.ts';
import { TransferredState } from './transferred-state.ts';

const log = 'heartbeat';

/**
 * Exports the state and runs of each heartbeat. Imports each heartbeat as a record. Outages are not exported: the
 * import grants every heartbeat a new grace period instead.
 */
export const heartbeatTransfer = defineTransfer<HeartbeatEntry | PortableRecord>({
  name: 'heartbeats',
  lines: { heartbeats: TransferredState },
  projection: { former: { table: log }, createState: () => new HeartbeatsFold() },
  table: {
    ...createRecordTable(log, { timeOf: ({ at }) => Number(at) }),
    queries: [],
    projection: {
      tables: { tables: [log], wanted: [log], projection: undefined },
      openSnapshot: (query) => createHeartbeatSnapshot({ query }),
    },
  },
  toLine: (entry) => ('runs' in entry ? ['heartbeats', toTransferred(entry)] : undefined),
  createParser: () => {
    const names = new Set<string>();
    const at = Date.now();
    return (_key, value) => {
      const state = value as TransferredState;
      const { name, since, runs } = state;
      if (names.has(name)) throw new SettingsError(['heartbeats.name was already used in an earlier line']);
      names.add(name);
      if (runs.reduce((sum, { output }) => sum + (output?.length ?? 0), 0) > maxOutputLength) {
        throw new SettingsError([
          `heartbeats.runs must not have more than ${maxOutputLength} characters of output in all`,
        ]);
      }
      return { id: createId(), record: { type: 'moved', name, since, at, state } };
    };
  },
});
