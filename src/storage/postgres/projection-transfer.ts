import type { PortableProjection, PortableTable, Query } from '../portable-store.ts';
import { Projection } from '../projection.ts';
import type { ProjectionState } from '../projection-state.ts';
import type { FollowedLog } from '../record-log.ts';
import { entryBreak } from '../salvage.ts';
import type { OnDamage, ProjectionSnapshot } from '../snapshot.ts';
import { readFollowed } from './followed-rows.ts';
import { toEventTable } from './record-collection.ts';
import { restoreSnapshot } from './snapshot-table.ts';

/** Reads the state of a projection in the transaction of an export. */
export const readProjection = (
  query: Query,
  { createState }: PortableProjection,
  { tables, openSnapshot }: NonNullable<PortableTable['projection']>,
  onDamage: OnDamage,
): Promise<ProjectionState> => {
  const log: FollowedLog = {
    appendAll: () => Promise.reject(new Error('the log is read-only')),
    readAfter: (seq, last) => readFollowed({ query }, tables, seq, last, onDamage),
    onStored: () => () => undefined,
    holdFrom: async () => () => undefined,
    state: () => ({ healthy: true, failure: undefined, lastSeq: undefined }),
  };
  const read: ProjectionSnapshot['read'] = async (restore, onSkipped) =>
    (await restoreSnapshot(query, tables.tables[0], restore, onSkipped)).seq;
  const snapshot = { ...(openSnapshot?.(query) ?? { read }), size: 0, write: async () => undefined };
  return Projection.read({ log, snapshot, createState, onDamage });
};

/**
 * Creates the table for export and import of a projection that follows a log and its feature events. Imported entries
 * become the snapshot as of the last imported record. A running instance that follows the log also restores the
 * snapshot, because the earlier events count as gone. `move` returns an entry with all its seqs increased by a number.
 */
export const createEventProjectionTable = <Entry>(
  log: 'alert',
  move: (entry: Entry, by: number) => Entry,
): PortableTable<Entry> => {
  const tables = [log, toEventTable(log)] as const;
  return {
    name: 'projection',
    queries: [],
    projection: { tables: { tables, wanted: tables, projection: log } },
    insert: (entries, _gate, lastSeq) => [
      {
        text: `INSERT INTO signalbox.projection_part (name, part, body)
          SELECT $1, coalesce(max(part) + 1, 0), $2 FROM signalbox.projection_part WHERE name = $1`,
        values: [log, `[${entries.map((entry) => JSON.stringify(move(entry, lastSeq))).join(entryBreak)}]`],
      },
    ],
    finish: () => [
      {
        text: `INSERT INTO signalbox.projection (name, seq, gone)
          SELECT name, last_id, last_id FROM signalbox.gate WHERE name = $1
          ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, gone = excluded.gone, parts = NULL`,
        values: [log],
      },
    ],
  };
};
