import { isAboutSomething, readTime } from '../../../kit/alert-record.ts';
import { rankOf, toSeverity } from '../../../kit/severity.ts';
import { KeyRefusal } from '../../../lib/expected-errors.ts';
import { InTurn } from '../../../lib/scheduling.ts';
import { createId } from '../../../storage/journal/line.ts';
import type { Projection } from '../../../storage/projection.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { AlertRecord } from '../alert.ts';
import { type FiringAlert, type FiringState, toSeriesKey } from '../firing.ts';
import { type KnownAlerts, toFiringState } from '../known-alerts.ts';
import { hashParts } from './format.ts';
import { type FirstAlert, type RepeatKeys, splitKey } from './repeat-keys.ts';

/** The ids of a body's alerts in their order, and how many of them had been stored before. */
export interface Stored {
  ids: string[];
  repeated: number;
  /** The records that were stored now. */
  fresh: readonly AlertRecord[];
}

/** What makes an alert a repeat: the last one with its hash, within 24 hours, had the same state. */
interface RepeatKey {
  hash: string;
  state: string;
  /** It comes from an `Idempotency-Key`: an alert with another state is refused. */
  isOnce: boolean;
}

export interface KeyedAlert {
  record: AlertRecord;
  key?: RepeatKey | undefined;
}

/** An alert's own id, or that of the one it repeats. */
interface PlacedAlert {
  id: string;
  isRepeat: boolean;
}

/** What decides how alerts are stored. */
export interface RepeatParts {
  clock: () => Date;
  firing: FiringState;
  /** Milliseconds after which a repeat is stored again, to remind of the first; undefined if nobody wants that. */
  repeatAfterMs(): number | undefined;
  /** Gets each alert that comes in, before it is known whether it is a repeat. */
  hear?: ((record: AlertRecord) => void) | undefined;
}

/** Stores alerts, and those that come again only once. Rejects with a JournalError, a KeyRefusal, or StoreUnavailable. */
export abstract class AlertIntake {
  protected readonly parts: RepeatParts;
  protected readonly inTurn = new InTurn();

  constructor(parts: RepeatParts) {
    this.parts = parts;
  }

  /** The first alerts that are known, by the hashes of their keys. */
  protected abstract get repeats(): RepeatKeys;

  /** Stores the alerts that are no repeats, all or none. */
  protected abstract place(alerts: readonly KeyedAlert[]): Promise<PlacedAlert[]>;

  /** Stores an alert, whatever was stored before. */
  async append(record: AlertRecord): Promise<PlacedAlert> {
    this.parts.hear?.(record);
    const [placed] = await this.place([{ record }]);
    return placed as PlacedAlert;
  }

  /** Stores the records that are no repeats by their `key`, all or none. */
  async store(records: readonly AlertRecord[]): Promise<Stored> {
    for (const record of records) this.parts.hear?.(record);
    const placed = await this.place(records.map((record) => ({ record, key: parseKey(record.key) })));
    const fresh = records.filter((_, index) => placed[index]?.isRepeat === false);
    return { ids: placed.map(({ id }) => id), repeated: records.length - fresh.length, fresh };
  }

  /** Stores the record of a request with an `Idempotency-Key`, or finds the one that was stored with the same key. */
  async storeOnce(record: AlertRecord, idempotencyKey: string): Promise<PlacedAlert> {
    this.parts.hear?.(record);
    const key = { ...toIdempotencyKey(record, idempotencyKey), isOnce: true };
    const [placed] = await this.place([{ record, key }]);
    return placed as PlacedAlert;
  }

  /** The alert that one with this key repeats, if it is still known. */
  protected findFirst({ hash, state, isOnce }: RepeatKey): FirstAlert | undefined {
    const known = this.repeats.find(hash);
    if (known?.state === state) return known;
    if (known && isOnce) throw new KeyRefusal();
    return undefined;
  }

  /**
   * A record that says that an alert has ended names that alert, its level and since when it fired, if that is known; the alert
   * may be in the same body. `ids` are those that the records get.
   */
  protected link(records: readonly AlertRecord[], ids: readonly string[]): AlertRecord[] {
    /** The worst alert of each series that fires in this body. */
    const firing = new Map<string, FiringAlert>();
    const ended = new Set<string>();
    return records.map((record, index) => {
      const key = toSeriesKey(record);
      if (key === undefined) return record;
      const known = firing.get(key) ?? this.parts.firing.state.findFiring(record);
      if (record.status === 'resolved') {
        ended.add(key);
        if (!known) return record;
        const { id: resolves, level: firingLevel, since } = known;
        return { ...record, resolves, firingLevel, firingSince: new Date(since).toISOString() };
      }
      const { level } = record;
      const id = ids[index] ?? '';
      if (!known || known.isResolved || ended.delete(key)) {
        firing.set(key, { id, level, since: readTime(record) ?? this.parts.clock().getTime(), isResolved: false });
      } else if (rankOf(toSeverity(level)) <= rankOf(toSeverity(known.level))) {
        firing.set(key, { id, level, since: known.since, isResolved: false });
      }
      return record;
    });
  }

  /** Milliseconds after which a repeat of this alert is stored again as a reminder, if it ever is. */
  protected remindAfterMs({ record, key }: KeyedAlert): number | undefined {
    const { firing, repeatAfterMs } = this.parts;
    if (key?.isOnce || record.status !== 'firing') return undefined;
    const after = repeatAfterMs();
    return after === undefined || firing.state.isResolved(record) ? undefined : after;
  }
}

/** What is stored under a hash: the id of the first alert, or the place of a new one among those that are written. */
interface Place {
  state: string;
  index: number;
  /** The first of the series, if this is a reminder. */
  first?: FirstAlert;
}

/** Stores alerts in files of this machine. */
export class LocalAlerts extends AlertIntake {
  readonly #journal: RecordLog;
  readonly #known: Projection<KnownAlerts>;

  constructor(journal: RecordLog, known: Projection<KnownAlerts>, parts: Omit<RepeatParts, 'firing'>) {
    super({ ...parts, firing: toFiringState(known) });
    this.#journal = journal;
    this.#known = known;
  }

  override async append(record: AlertRecord): Promise<PlacedAlert> {
    if (isAboutSomething(record)) return super.append(record);
    this.parts.hear?.(record);
    // An alert without a series has nothing to wait for.
    const { id } = await this.#journal.append(record);
    return { id, isRepeat: false };
  }

  protected get repeats(): RepeatKeys {
    return this.#known.state.repeats;
  }

  /** Waits for other requests that store alerts of the same series, or with the same keys. */
  protected place(alerts: readonly KeyedAlert[]): Promise<PlacedAlert[]> {
    const names = listNames(alerts);
    if (names.size === 0) return this.#placeNow(alerts);
    const step = () => this.inTurn.run([...names], () => this.#placeNow(alerts));
    return this.#known.hasRead ? step() : this.#follow().then(step);
  }

  async #placeNow(alerts: readonly KeyedAlert[]): Promise<PlacedAlert[]> {
    const records: AlertRecord[] = [];
    /** The keys of these records. */
    const places = new Map<string, Place>();
    const found = alerts.map((alert): { id?: string | undefined; index?: number; isRepeat: boolean } => {
      const { record, key } = alert;
      if (!key) return { index: records.push(record) - 1, isRepeat: false };
      const { hash, state } = key;
      const place = places.get(hash);
      if (place?.state === state) return { ...place, id: place.first?.id, isRepeat: true };
      const first = place ? undefined : this.findFirst(key);
      if (!first) {
        const index = records.push(key.isOnce ? { ...record, key: hash, bodyHash: state } : record) - 1;
        places.set(hash, { state, index });
        return { index, isRepeat: false };
      }
      if (this.#isDue(alert, first)) {
        places.set(hash, { state, index: records.push({ ...record, repeatOf: first.id }) - 1, first });
      }
      return { id: first.id, isRepeat: true };
    });
    const ids = await this.#write(records);
    return found.map(({ id, index = 0, isRepeat }) => ({ id: id ?? ids[index] ?? '', isRepeat }));
  }

  /** Whether it is time to remind of the first alert of a series, which this one repeats. */
  #isDue(alert: KeyedAlert, { storedAt, remindedAt = storedAt }: FirstAlert): boolean {
    const after = this.remindAfterMs(alert);
    return after !== undefined && this.parts.clock().getTime() - remindedAt >= after;
  }

  async #write(records: readonly AlertRecord[]): Promise<string[]> {
    const ids = records.map(() => createId());
    const appended = await this.#journal.appendAll(this.link(records, ids), ids);
    await this.#follow();
    return appended.map(({ id }) => id);
  }

  /** Makes known what the log has. If it cannot be read, alerts that come again may be stored again. */
  #follow(): Promise<void> {
    return this.#known.catchUp().catch(() => undefined);
  }
}

/** The series of the alerts, and their keys where those are not of one series. */
const listNames = (alerts: readonly KeyedAlert[]): Set<string> => {
  const names = new Set<string>();
  for (const { record, key } of alerts) {
    const series = toSeriesKey(record);
    if (series !== undefined) names.add(series);
    if (key && (key.isOnce || series === undefined)) names.add(key.hash);
  }
  return names;
};

/** By what a sender's request with this `Idempotency-Key` is recognized, and what it must have in common with the first. */
const toIdempotencyKey = (
  { sender, source, level, message, hostname, fingerprint, status, labels, link }: AlertRecord,
  key: string,
) => ({
  hash: hashParts('Idempotency-Key', sender, key),
  state: hashParts(source, level, message, hostname, fingerprint, status, labels && JSON.stringify(labels), link),
});

const parseKey = (text: string | undefined): RepeatKey | undefined => {
  const { hash, state } = splitKey(text);
  return hash === '' ? undefined : { hash, state, isOnce: false };
};
