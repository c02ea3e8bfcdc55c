import { isResolvable } from '../../../kit/alert-record.ts';
import { createId } from '../../../storage/journal/line.ts';
import type { Projection } from '../../../storage/projection.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { AlertRecord } from '../alert.ts';
import { toSeriesId } from '../firing/series.ts';
import { type AlertProjection, toFiringState } from './alert-projection.ts';
import { type AlertOutcome, AlertStore, type AlertStoreParts, type ReceivedAlert } from './alert-store.ts';
import type { FirstAlert, FirstAlerts } from './first-alerts.ts';

/** New record, indexed by the hash of its key. */
interface NewRecord {
  state: string;
  /** Index in the list of records to write. */
  index: number;
  /** First alert of the series, if the record is a reminder. */
  first?: FirstAlert;
}

/** Stores alerts in files on this machine. */
export class FileAlertStore extends AlertStore {
  readonly #journal: RecordLog;
  readonly #projection: Projection<AlertProjection>;

  constructor(journal: RecordLog, projection: Projection<AlertProjection>, parts: Omit<AlertStoreParts, 'firing'>) {
    super({ ...parts, firing: toFiringState(projection) });
    this.#journal = journal;
    this.#projection = projection;
  }

  override async append(record: AlertRecord): Promise<AlertOutcome> {
    if (isResolvable(record)) return super.append(record);
    this.parts.onReceived?.(record);
    // An alert without a series does not have to wait for other requests.
    const { id } = await this.#journal.append(record);
    return { id, isRepeat: false };
  }

  protected get repeats(): FirstAlerts {
    return this.#projection.state.repeats;
  }

  /** Stores alerts, after other requests that are storing alerts with the same series or keys. */
  protected storeKeyed(alerts: readonly ReceivedAlert[]): Promise<AlertOutcome[]> {
    const names = listNames(alerts);
    if (names.size === 0) return this.#storeNow(alerts);
    const step = () => this.inTurn.run([...names], () => this.#storeNow(alerts));
    return this.#projection.hasRead ? step() : this.#catchUp().then(step);
  }

  async #storeNow(alerts: readonly ReceivedAlert[]): Promise<AlertOutcome[]> {
    const records: AlertRecord[] = [];
    /** Ids of the records that came with an id. */
    const given: string[] = [];
    const newByHash = new Map<string, NewRecord>();
    const found = alerts.map((alert): { id?: string | undefined; index?: number; isRepeat: boolean } => {
      const { record, key } = alert;
      if (!key) return { index: records.push(record) - 1, isRepeat: false };
      const { hash, state } = key;
      const earlier = newByHash.get(hash);
      if (earlier?.state === state) return { index: earlier.index, id: earlier.first?.id, isRepeat: true };
      const first = earlier ? undefined : this.findFirst(key);
      if (!first) {
        const index = records.push(key.isOnce ? { ...record, key: hash, bodyHash: state } : record) - 1;
        newByHash.set(hash, { state, index });
        if (alert.id !== undefined) given[index] = alert.id;
        return { index, isRepeat: false };
      }
      if (this.#isReminder(alert, first)) {
        newByHash.set(hash, { state, index: records.push({ ...record, repeatOf: first.id }) - 1, first });
      }
      return { id: first.id, isRepeat: true };
    });
    const ids = await this.#write(records, given);
    return found.map(({ id, index = 0, isRepeat }) => ({ id: id ?? ids[index] ?? '', isRepeat }));
  }

  /**
   * True if a repeat should be stored as a reminder. Depends on the age of the first alert, or of its last reminder if
   * there is one.
   */
  #isReminder(alert: ReceivedAlert, { storedAt, remindedAt = storedAt }: FirstAlert): boolean {
    const after = this.remindAfterMs(alert);
    return after !== undefined && this.parts.clock().getTime() - remindedAt >= after;
  }

  async #write(records: readonly AlertRecord[], given: readonly string[]): Promise<string[]> {
    const ids = records.map((_, index) => given[index] ?? createId());
    const appended = await this.#journal.appendAll(this.linkResolutions(records, ids), ids);
    await this.#catchUp();
    return appended.map(({ id }) => id);
  }

  /** Catches up with the log. If the log is unreadable, repeats may be stored again. */
  #catchUp(): Promise<void> {
    return this.#projection.catchUp().catch(() => undefined);
  }
}

/**
 * Returns the names of the alerts' series. Also returns the keys of alerts without a series or with an
 * `Idempotency-Key`.
 */
const listNames = (alerts: readonly ReceivedAlert[]): Set<string> => {
  const names = new Set<string>();
  for (const { record, key } of alerts) {
    const series = toSeriesId(record);
    if (series !== undefined) names.add(series);
    if (key && (key.isOnce || series === undefined)) names.add(key.hash);
  }
  return names;
};
