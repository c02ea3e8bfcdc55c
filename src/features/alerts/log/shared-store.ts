import { passIfUnavailable } from '../../../lib/expected-errors.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import { createId } from '../../../storage/journal/line.ts';
import type { DatabaseLog } from '../../../storage/postgres/database-log.ts';
import type { NewRecord, Placed, RowRepeatId } from '../../../storage/postgres/record-collection.ts';
import type { AlertRecord } from '../alert.ts';
import type { AlertRows } from './alert-rows.ts';
import { AlertStore, type AlertStoreParts, type ReceivedAlert } from './alert-store.ts';
import type { FirstAlerts } from './first-alerts.ts';
import type { Spool } from './spool.ts';

/** Milliseconds after which an uncommitted alert is written to the spool. */
const commitMs = 1000;

interface SharedParts extends AlertStoreParts {
  rows: AlertRows;
  /** Undefined if the setting `spool` is off. */
  spool: Spool | undefined;
  /** Reads alerts stored by other instances. */
  catchUp(): Promise<void>;
}

/**
 * Stores alerts in the database, or in the spool while the database is unavailable. Repeats among spooled alerts are
 * recognized when they are shipped. They are recognized immediately if this process has already stored an alert with
 * the same `Idempotency-Key`.
 */
export class SharedAlertStore extends AlertStore {
  readonly #log: DatabaseLog;
  readonly #rows: AlertRows;
  readonly #spool: Spool | undefined;
  readonly #catchUp: () => Promise<void>;

  constructor(log: DatabaseLog, { rows, spool, catchUp, ...parts }: SharedParts) {
    super(parts);
    this.#log = log;
    this.#rows = rows;
    this.#spool = spool;
    this.#catchUp = catchUp;
  }

  protected get repeats(): FirstAlerts {
    return this.#rows.repeats;
  }

  /** Stores alerts with the same `Idempotency-Key` one at a time, because the spool does not recognize repeats. */
  protected storeKeyed(alerts: readonly ReceivedAlert[]): Promise<Placed[]> {
    const names = alerts.flatMap(({ key }) => (key?.isOnce ? [key.hash] : []));
    return names.length === 0 ? this.#storeNow(alerts) : this.inTurn.run(names, () => this.#storeNow(alerts));
  }

  async #storeNow(alerts: readonly ReceivedAlert[]): Promise<Placed[]> {
    // A resolution names the alert that it resolves. Another instance may have stored that alert just now.
    const canRead = this.#log.state().healthy && this.#spool?.isUsed !== true;
    const hasResolution = alerts.some(({ record: { status } }) => status === 'resolved');
    if (canRead && hasResolution) await awaitWithin(commitMs, this.#catchUp());
    const ids = alerts.map(({ id }) => id ?? createId());
    const records = this.linkResolutions(
      alerts.map(({ record }) => record),
      ids,
    );
    const rows = records.map((record, index) => this.#log.toNew(record, this.#toRowKey(alerts[index]), ids[index]));
    await this.#spool?.hold;
    const placed = await (this.#spool ? this.#storeOrSpool(this.#spool, records, rows) : this.#log.add(rows));
    this.#rows.remember(rows, placed);
    return placed;
  }

  #toRowKey(alert: ReceivedAlert | undefined): RowRepeatId | undefined {
    return alert?.key && { ...alert.key, remindAfterMs: this.remindAfterMs(alert) };
  }

  /** Writes rows to the spool if they are not committed in time. The database may still commit them later. */
  async #storeOrSpool(spool: Spool, records: readonly AlertRecord[], rows: readonly NewRecord[]): Promise<Placed[]> {
    const canStore = !spool.isUsed && this.#log.state().healthy;
    const placed = canStore && (await awaitWithin(commitMs, this.#log.add(rows).catch(passIfUnavailable)));
    if (placed) return placed;
    const [key] = rows.map((row) => row.key);
    const first = key?.isOnce ? this.findFirst(key) : undefined;
    if (first) return [{ id: first.id, seq: undefined, isRepeat: true }];
    await spool.add(rows.map(({ id, key }, index) => ({ record: records[index], of: id, ...(key && { key }) })));
    return rows.map(({ id }) => ({ id, seq: undefined, isRepeat: false }));
  }
}
