import type { AlertSource } from '../../kit/alert-source.ts';
import type { Parts } from '../../kit/feature.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { eventsLease } from '../../storage/postgres/database-log.ts';
import { createLease } from '../../storage/postgres/lease.ts';
import { toEventTable } from '../../storage/postgres/record-collection.ts';
import { createSnapshotTable } from '../../storage/postgres/snapshot-table.ts';
import { findReplayStart } from './replay-start.ts';
import { firstRules } from './settings.ts';
import { IncidentStore, type StoreParts } from './store.ts';
import { FilesOf11 } from './upgrade.ts';

/** Maximum milliseconds for which startup waits for incidents from a database. */
const patienceMs = 2000;

type OpeningParts = Pick<Parts, 'storage' | 'clock' | 'log'>;
type Log = Pick<AlertSource, 'events' | 'journal' | 'isOwn'>;
type Given = Pick<StoreParts, 'rules' | 'observe'>;

/** Opens the incidents of the alert log, either in the shared database or in files. */
export const openIncidentStore = (parts: OpeningParts, alerts: Log, given: Given): Promise<IncidentStore> =>
  parts.storage.database ? openShared(parts, parts.storage.database, alerts, given) : openInFiles(parts, alerts, given);

const openInFiles = async (
  { storage, clock, log }: OpeningParts,
  { events, journal }: Log,
  given: Given,
): Promise<IncidentStore> => {
  const oldFiles = new FilesOf11(storage);
  const { search } = journal;
  const { lastSeq = 0 } = events.state();
  const store = await IncidentStore.open({
    ...given,
    clock,
    log,
    events,
    snapshot: storage.snapshot('alerts.incidents'),
    begin: (state, isClosed) =>
      findReplayStart({ events: { ...events, search }, oldFiles, state, isClosed, clock, log }),
    onSaved: () => oldFiles.markConverted(),
  });
  // Without the first snapshot, the next startup would mark the alerts of this one as old and notify nobody of them.
  if (lastSeq === 0) await store.catchUp();
  return store;
};

const openShared = async (
  { clock, log }: OpeningParts,
  database: Database,
  { events, isOwn }: Log,
  given: Given,
): Promise<IncidentStore> => {
  const lease = createLease(database, eventsLease);
  const store = await IncidentStore.open({
    ...given,
    clock,
    log,
    events,
    snapshot: createSnapshotTable({ database, tables: ['alert', toEventTable('alert')], isWriter: lease.isHeld }),
    shared: { lease, firstRules, isOwn },
  });
  // The settings of the instance that holds the lease must apply to the first alerts already.
  await awaitWithin(
    patienceMs,
    Promise.all([lease.begun, store.catchUp()]).then(() => store.catchUp()),
  );
  return store;
};
