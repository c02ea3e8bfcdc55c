import type { IncomingHttpHeaders } from 'node:http';
import type { AccessKeys } from '../../../auth/access.ts';
import { uuidForm } from '../../../kit/shape.ts';
import { hourMs } from '../../../lib/units.ts';
import { readIdTime } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { AlertRecord } from '../alert.ts';
import type { AlertOutcome, AlertStore } from '../log/alert-store.ts';

/** Milliseconds for which the store is certain to remember an `Idempotency-Key`. */
const rememberedMs = 23 * hourMs;

/** Appends the record of a request with an `Idempotency-Key`. */
export type AppendOnce = (record: AlertRecord, key: string, headers: IncomingHttpHeaders) => Promise<AlertOutcome>;

/** Creates a function that stores alerts with the same key only once. Alerts forwarded by a host keep their ids. */
export const createAppendOnce =
  (
    store: AlertStore,
    journal: Pick<RecordLog, 'find'>,
    keys: Pick<AccessKeys, 'list'>,
    clock: () => Date,
  ): AppendOnce =>
  async (record, key, { 'webhook-id': id }) => {
    const isHost = (): boolean =>
      keys.list().some(({ name, scopes }) => record.sender === `key:${name}` && scopes.includes('hosts:report'));
    const at = key === id && uuidForm.test(key) ? readIdTime(key) : undefined;
    if (at === undefined || !isHost()) return store.appendOnce(record, key);
    // A host that was offline for days may send an alert again because the first response got lost.
    const known = clock().getTime() - at > rememberedMs ? await journal.find(key) : undefined;
    if (known?.['sender'] === record.sender) return { id: key, isRepeat: true };
    return store.appendOnce(record, key, known ? undefined : key);
  };
