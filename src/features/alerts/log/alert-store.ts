import { readTime } from '../../../kit/alert-record.ts';
import { rankOf, toSeverity } from '../../../kit/severity.ts';
import { RepeatRefusal } from '../../../lib/expected-errors.ts';
import { InTurn } from '../../../lib/scheduling.ts';
import type { AlertRecord } from '../alert.ts';
import type { FiringAlert, FiringState } from '../firing/firing-alerts.ts';
import { toSeriesId } from '../firing/series.ts';
import { hashParts } from '../intake/hashes.ts';
import { type FirstAlert, type FirstAlerts, splitRepeatId } from './first-alerts.ts';

/** Result of storing the alerts in a body. */
export interface StoredAlerts {
  /** Ids, in the order of the alerts. A repeat has the id of the first alert. */
  ids: string[];
  /** Number of repeats. */
  repeated: number;
  /** Records that are not repeats. */
  fresh: readonly AlertRecord[];
}

/**
 * Key of an alert. An alert is a repeat if the last alert with the same hash has the same state and is less than 24
 * hours old.
 */
interface RepeatId {
  hash: string;
  state: string;
  /** True for an `Idempotency-Key`. Such a key is rejected if the last alert has a different state. */
  isOnce: boolean;
}

export interface ReceivedAlert {
  /** Id in the log of the forwarding host. Default: a new id. */
  id?: string | undefined;
  record: AlertRecord;
  key?: RepeatId | undefined;
}

/** Result of storing an alert. The id of a repeat is the id of the first alert. */
export interface AlertOutcome {
  id: string;
  isRepeat: boolean;
}

export interface AlertStoreParts {
  clock: () => Date;
  firing: FiringState;
  /** Returns the milliseconds after which a repeat is stored as a reminder. Undefined if reminders are disabled. */
  repeatAfterMs(): number | undefined;
  /** Receives each alert before it is stored or recognized as a repeat. */
  onReceived?: ((record: AlertRecord) => void) | undefined;
}

/** Stores all alerts except repeats. Methods reject with a JournalError, a RepeatRefusal or StoreUnavailable. */
export abstract class AlertStore {
  protected readonly parts: AlertStoreParts;
  protected readonly inTurn = new InTurn();

  constructor(parts: AlertStoreParts) {
    this.parts = parts;
  }

  /** First alerts that are known, by key. */
  protected abstract get repeats(): FirstAlerts;

  /** Stores the alerts that are not repeats: either all of them or none. */
  protected abstract storeKeyed(alerts: readonly ReceivedAlert[]): Promise<AlertOutcome[]>;

  /** Stores an alert even if it is already stored. */
  async append(record: AlertRecord): Promise<AlertOutcome> {
    this.parts.onReceived?.(record);
    const [outcome] = await this.storeKeyed([{ record }]);
    return outcome as AlertOutcome;
  }

  /** Stores the records that are not repeats according to their `key`: either all of them or none. */
  async appendNew(records: readonly AlertRecord[]): Promise<StoredAlerts> {
    for (const record of records) this.parts.onReceived?.(record);
    const outcomes = await this.storeKeyed(records.map((record) => ({ record, key: parseKey(record.key) })));
    const fresh = records.filter((_, index) => outcomes[index]?.isRepeat === false);
    return { ids: outcomes.map(({ id }) => id), repeated: records.length - fresh.length, fresh };
  }

  /** Stores the record of a request with `id` or a new id, unless an earlier record has the same `Idempotency-Key`. */
  async appendOnce(record: AlertRecord, idempotencyKey: string, id?: string): Promise<AlertOutcome> {
    this.parts.onReceived?.(record);
    const key = { ...toIdempotencyKey(record, idempotencyKey), isOnce: true };
    const [outcome] = await this.storeKeyed([{ id, record, key }]);
    return outcome as AlertOutcome;
  }

  /** Returns the first alert with this key if a new alert with the key would be a repeat. */
  protected findFirst({ hash, state, isOnce }: RepeatId): FirstAlert | undefined {
    const known = this.repeats.find(hash);
    if (known?.state === state) return known;
    if (known && isOnce) throw new RepeatRefusal();
    return undefined;
  }

  /**
   * Adds to each resolution the id, level and receipt time of the alert that it resolves. That alert must be known or
   * be in the same body. `ids` are the ids of the records.
   */
  protected linkResolutions(records: readonly AlertRecord[], ids: readonly string[]): AlertRecord[] {
    /** Most severe alert of each series that is firing in this body. */
    const firing = new Map<string, FiringAlert>();
    const resolved = new Set<string>();
    return records.map((record, index) => {
      const key = toSeriesId(record);
      if (key === undefined) return record;
      const known = firing.get(key) ?? this.parts.firing.state.findFiring(record);
      if (record.status === 'resolved') {
        resolved.add(key);
        if (!known) return record;
        const { id: resolves, level: firingLevel, since } = known;
        return { ...record, resolves, firingLevel, firingSince: new Date(since).toISOString() };
      }
      const { level } = record;
      const id = ids[index] ?? '';
      if (!known || known.isResolved || resolved.delete(key)) {
        firing.set(key, { id, level, since: readTime(record) ?? this.parts.clock().getTime(), isResolved: false });
      } else if (rankOf(toSeverity(level)) <= rankOf(toSeverity(known.level))) {
        firing.set(key, { id, level, since: known.since, isResolved: false });
      }
      return record;
    });
  }

  /** Returns the milliseconds after which a repeat of this alert is stored as a reminder. Undefined if it never is. */
  protected remindAfterMs({ record, key }: ReceivedAlert): number | undefined {
    const { firing, repeatAfterMs } = this.parts;
    if (key?.isOnce || record.status !== 'firing') return undefined;
    const after = repeatAfterMs();
    return after === undefined || firing.state.isResolved(record) ? undefined : after;
  }
}

/**
 * Creates a key from the hash of the sender and the `Idempotency-Key`. The state of the key is the hash of the alert.
 */
const toIdempotencyKey = (
  { sender, source, level, message, hostname, fingerprint, status, labels, link }: AlertRecord,
  key: string,
) => ({
  hash: hashParts('Idempotency-Key', sender, key),
  state: hashParts(source, level, message, hostname, fingerprint, status, labels && JSON.stringify(labels), link),
});

const parseKey = (text: string | undefined): RepeatId | undefined => {
  const { hash, state } = splitRepeatId(text);
  return hash === '' ? undefined : { hash, state, isOnce: false };
};
