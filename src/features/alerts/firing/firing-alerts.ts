import Type, { type Static } from 'typebox';
import { readTime, toText } from '../../../kit/alert-record.ts';
import type { RaisedSeries } from '../../../kit/alert-source.ts';
import { rankOf, toSeverity } from '../../../kit/severity.ts';
import { createSchemaCheck } from '../../../lib/schema-validation.ts';
import { isFeatureEvent, type LogRecord, type StoredRecord } from '../../../storage/journal/line.ts';
import type { ProjectionState } from '../../../storage/projection-state.ts';
import { RecentEntries } from '../../../storage/recent-entries.ts';
import type { Resolution } from '../shown-alert.ts';
import { type AlertExpiry, readExpiry, Series, toSeriesId } from './series.ts';

/** Resolution: its id, its time in RFC 3339, and its time of receipt in Unix milliseconds. */
const KnownResolution = Type.Object({ id: Type.String(), time: Type.String(), storedAt: Type.Number() });
type KnownResolution = Static<typeof KnownResolution>;

/** Most severe alert of a series, with the receipt time of the series' first alert in Unix milliseconds. */
export type FiringAlert = Pick<Series, 'id' | 'level' | 'since' | 'isResolved'>;

/** Limits of the memory: series, ids per series, and resolved alerts. */
const maxSeries = 20_000;
const maxIds = 16;
const maxResolutions = 50_000;

/** Entry in a snapshot. */
const FiringEntry = Type.Union([
  Type.Object({ series: Type.String(), is: Series }),
  Type.Object({ ended: Type.String(), by: KnownResolution }),
  Type.Object({ lastAt: Type.Number(), knowsFormer: Type.Boolean() }),
]);
type FiringEntry = Static<typeof FiringEntry>;

const isFiringEntry = createSchemaCheck(FiringEntry) as (entry: unknown) => entry is FiringEntry;

/** Firing alerts in the part of the log that has been read. `state` is replaced when a snapshot is restored. */
export interface FiringState {
  readonly state: FiringAlerts;
}

/**
 * Firing and resolved alerts: a projection of the alert log, identical in every instance that reads the log. Keeps only
 * the latest alerts, to limit memory.
 */
export class FiringAlerts implements ProjectionState<undefined> {
  /** Series by `toSeriesId`. */
  readonly #series: RecentEntries<Series>;
  /** Resolutions by the id of the resolved alert. */
  readonly #resolutions: RecentEntries<KnownResolution>;
  /** True if the log has lines of version 1.0. These lines have no sender. */
  #knowsFormer = false;
  /** Receipt time of the last alert, in Unix milliseconds. Used for lines without a time. */
  #lastAt = 0;

  constructor(clock: () => Date) {
    this.#series = new RecentEntries(clock, { keptMs: Number.POSITIVE_INFINITY, count: maxSeries });
    this.#resolutions = new RecentEntries(clock, { keptMs: Number.POSITIVE_INFINITY, count: maxResolutions });
  }

  fold(record: StoredRecord): undefined {
    if (isFeatureEvent(record)) return;
    const at = readTime(record) ?? this.#lastAt;
    this.#lastAt = at;
    const key = toSeriesId(record);
    if (key === undefined) return;
    if (record['sender'] === undefined) this.#knowsFormer = true;
    if (record['status'] === 'resolved') this.#resolve(key, record, at);
    else this.#fire(key, record, at);
  }

  save(): Iterable<readonly FiringEntry[]> {
    return [
      [{ lastAt: this.#lastAt, knowsFormer: this.#knowsFormer }],
      Array.from(this.#series.entries(), ([series, is]) => ({ series, is })),
      Array.from(this.#resolutions.entries(), ([ended, by]) => ({ ended, by })),
    ];
  }

  /** Adds a snapshot entry. Ignores entries that are damaged or come from other versions. */
  restore(entry: unknown): void {
    if (!isFiringEntry(entry)) return;
    if ('series' in entry) this.#series.remember(entry.series, entry.is);
    else if ('ended' in entry) this.#resolutions.remember(entry.ended, entry.by);
    else [this.#lastAt, this.#knowsFormer] = [entry.lastAt, entry.knowsFormer];
  }

  /** Returns the series of a record. Undefined if it is unknown. */
  findFiring(record: LogRecord): FiringAlert | undefined {
    const key = toSeriesId(record);
    return key === undefined ? undefined : this.#find(record, key)?.series;
  }

  /** Returns the series of a sender and format, by fingerprint. */
  listSeries(sender: string, format: string): Map<string, RaisedSeries> {
    const found = new Map<string, RaisedSeries>();
    const opening = JSON.stringify([sender, format]).slice(0, -1);
    for (const [key, { id, ids = [id], level, isResolved }] of this.#series.entries()) {
      if (key.startsWith(opening)) found.set(String(JSON.parse(key)[2]), { id, ids, level, isResolved });
    }
    return found;
  }

  /** Returns the series with this key. `toSeriesId` creates the keys. */
  findSeries(key: string): RaisedSeries | undefined {
    const series = this.#series.find(key);
    return series && { ...series, ids: series.ids ?? [series.id] };
  }

  /** Yields the series that are firing and can expire. */
  *listExpiring(): Generator<{ key: string; expiry: AlertExpiry }> {
    for (const [key, { isResolved, hold }] of this.#series.entries()) {
      if (!isResolved && hold) yield { key, expiry: hold };
    }
  }

  /** True if the series of the record is known and resolved. */
  isResolved(record: LogRecord): boolean {
    return this.findFiring(record)?.isResolved === true;
  }

  /**
   * Returns the resolution of an alert. For a reminder, returns the resolution of the alert that the reminder repeats.
   */
  findResolution({ id, repeatOf }: LogRecord): Resolution | null {
    const known = this.#resolutions.find(toText(repeatOf)) ?? this.#resolutions.find(toText(id));
    return known ? { id: known.id, time: known.time } : null;
  }

  /** Returns the series of a record with its key. The key of a firing series from version 1.0 has no sender. */
  #find(record: LogRecord, key: string): { key: string; series: Series } | undefined {
    const own = this.#series.find(key);
    if (this.#knowsFormer && (!own || own.isResolved)) {
      const formerKey = toSeriesId({ ...record, sender: undefined }) ?? '';
      const former = this.#series.find(formerKey);
      if (former && !former.isResolved) return { key: formerKey, series: former };
    }
    return own && { key, series: own };
  }

  #fire(key: string, record: StoredRecord, at: number): void {
    const { id, repeatOf } = record;
    const found = this.#find(record, key);
    const known = found?.series.isResolved ? undefined : found?.series;
    if (repeatOf !== undefined && found?.series.isResolved) return;
    // An acknowledgement does not start a series.
    if (record['acknowledges'] === true && !known) return;
    const level = toText(record['level']);
    const { hold: _, ...begun }: Series = known ?? {
      id: toText(repeatOf) || id,
      level,
      isResolved: false,
      since: at,
      storedAt: at,
    };
    const hold = readExpiry(record);
    const added = known && repeatOf === undefined ? addTo(known, id, level) : {};
    const series = { ...begun, ...added, storedAt: at, ...(hold && { hold }) };
    this.#series.remember(key, series);
    // A version 1.0 series continues under the key that includes its sender.
    if (known && found && found.key !== key) this.#series.remember(found.key, { ...known, isResolved: true });
  }

  #resolve(key: string, record: StoredRecord, at: number): void {
    const found = this.#find(record, key);
    if (!found || found.series.isResolved) return;
    const { series } = found;
    this.#series.remember(found.key, { ...series, isResolved: true });
    const by = { id: record.id, time: toText(record['time']), storedAt: at };
    for (const id of new Set([...(series.ids ?? []), series.id])) this.#resolutions.remember(id, by);
  }
}

/** Returns the fields of a series after another firing alert. */
const addTo = (series: Series, id: string, level: string): Partial<Series> => {
  const ids = [...(series.ids ?? [series.id]), id].slice(-maxIds);
  const isWorse = rankOf(toSeverity(level)) <= rankOf(toSeverity(series.level));
  return isWorse ? { ids, id, level } : { ids };
};
