import Type, { type Static } from 'typebox';
import { isAboutSomething, readTime, toText } from '../../kit/alert-record.ts';
import type { RaisedSeries } from '../../kit/alert-source.ts';
import { rankOf, toSeverity } from '../../kit/severity.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { isFeatureEvent, type LogRecord, type StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import { RecentKeys } from '../../storage/recent-keys.ts';
import type { Resolution } from './alert.ts';

/** For how long an alert holds from its receipt on, unless it comes again. */
const AlertHold = Type.Object({
  /** Until the end that its sender gives; without one, for `resolveTimeout`. */
  ms: Type.Optional(Type.Number()),
});
export type AlertHold = Static<typeof AlertHold>;

/** The alerts of one sender about the same thing; replaced by another one with each change. Times are Unix milliseconds. */
const Series = Type.Object({
  /** The worst of those that fire, and its level; of several the last one. */
  id: Type.String(),
  level: Type.String(),
  /** Those that fire, the last ones; left out if there is only that one. */
  ids: Type.Optional(Type.Array(Type.String())),
  isResolved: Type.Boolean(),
  /** When the first and the last of them were received. */
  since: Type.Number(),
  storedAt: Type.Number(),
  hold: Type.Optional(AlertHold),
});
type Series = Static<typeof Series>;

/** The alert that has ended others. */
const KnownResolution = Type.Object({ id: Type.String(), time: Type.String(), storedAt: Type.Number() });
type KnownResolution = Static<typeof KnownResolution>;

/** The worst alert of a series, and when the first one was received, in Unix milliseconds. */
export type FiringAlert = Pick<Series, 'id' | 'level' | 'since' | 'isResolved'>;

/** How many series are known, how many ids of each, and how many alerts that have ended. */
const mostSeries = 20_000;
const mostIds = 16;
const mostResolutions = 50_000;

/** A part of the state in a snapshot. */
const FiringEntry = Type.Union([
  Type.Object({ series: Type.String(), is: Series }),
  Type.Object({ ended: Type.String(), by: KnownResolution }),
  Type.Object({ lastAt: Type.Number(), knowsFormer: Type.Boolean() }),
]);
type FiringEntry = Static<typeof FiringEntry>;

/** Whether a part of a snapshot is whole. */
const isFiringEntry = createSchemaCheck(FiringEntry) as (entry: unknown) => entry is FiringEntry;

/**
 * Which alerts fire, and which ones have ended: a projection of the alert log, so every instance that reads the same log knows the
 * same. Bounded: of very many alerts it knows the last ones.
 */
export class FiringAlerts implements ProjectionState<undefined> {
  /** By sender, format and fingerprint. */
  readonly #series: RecentKeys<Series>;
  /** By the id of the alert that has ended. */
  readonly #resolutions: RecentKeys<KnownResolution>;
  /** Whether there are lines of version 1.0, which do not say who has sent them. */
  #knowsFormer = false;
  /** When the last alert was received, in Unix milliseconds: the time of one whose line does not say. */
  #lastAt = 0;

  constructor(clock: () => Date) {
    this.#series = new RecentKeys(clock, { keptMs: Number.POSITIVE_INFINITY, count: mostSeries });
    this.#resolutions = new RecentKeys(clock, { keptMs: Number.POSITIVE_INFINITY, count: mostResolutions });
  }

  fold(record: StoredRecord): undefined {
    if (isFeatureEvent(record)) return;
    const at = readTime(record) ?? this.#lastAt;
    this.#lastAt = at;
    const key = toSeriesKey(record);
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

  /** Ignores damaged entries, and entries of other versions. */
  restore(entry: unknown): void {
    if (!isFiringEntry(entry)) return;
    if ('series' in entry) this.#series.remember(entry.series, entry.is);
    else if ('ended' in entry) this.#resolutions.remember(entry.ended, entry.by);
    else [this.#lastAt, this.#knowsFormer] = [entry.lastAt, entry.knowsFormer];
  }

  /** The alert that the one of a record ends, if it is known. */
  findFiring(record: LogRecord): FiringAlert | undefined {
    const key = toSeriesKey(record);
    return key === undefined ? undefined : this.#find(record, key)?.series;
  }

  /** Each series of a sender and a format, by fingerprint. */
  listSeries(sender: string, format: string): Map<string, RaisedSeries> {
    const found = new Map<string, RaisedSeries>();
    const opening = JSON.stringify([sender, format]).slice(0, -1);
    for (const [key, { id, ids = [id], level, isResolved }] of this.#series.entries()) {
      if (key.startsWith(opening)) found.set(String(JSON.parse(key)[2]), { id, ids, level, isResolved });
    }
    return found;
  }

  /** The series with this key, see `toSeriesKey`. */
  findSeries(key: string): RaisedSeries | undefined {
    const series = this.#series.find(key);
    return series && { ...series, ids: series.ids ?? [series.id] };
  }

  /** The series that fire, and end by themselves unless they come again. */
  *listHeld(): Generator<{ key: string; hold: AlertHold }> {
    for (const [key, { isResolved, hold }] of this.#series.entries()) if (!isResolved && hold) yield { key, hold };
  }

  /** Whether the last thing that is known of the record's series is that it has ended. */
  isResolved(record: LogRecord): boolean {
    const key = toSeriesKey(record);
    return key !== undefined && this.#find(record, key)?.series.isResolved === true;
  }

  /** What has ended the alert of a record, or the one that it reminds of. */
  findResolution({ id, repeatOf }: LogRecord): Resolution | null {
    const known = this.#resolutions.find(toText(repeatOf)) ?? this.#resolutions.find(toText(id));
    return known ? { id: known.id, time: known.time } : null;
  }

  /** The series of a record, with the key that it has here. */
  #find(record: LogRecord, key: string): { key: string; series: Series } | undefined {
    const own = this.#series.find(key);
    if (this.#knowsFormer && (!own || own.isResolved)) {
      const formerKey = toSeriesKey({ ...record, sender: undefined }) ?? '';
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
    // An acknowledgement alone does not say that something fires.
    if (record['acknowledges'] === true && !known) return;
    const level = toText(record['level']);
    const { hold: _, ...begun }: Series = known ?? {
      id: toText(repeatOf) || id,
      level,
      isResolved: false,
      since: at,
      storedAt: at,
    };
    const hold = readHold(record);
    const added = known && repeatOf === undefined ? addTo(known, id, level) : {};
    const series = { ...begun, ...added, storedAt: at, ...(hold && { hold }) };
    this.#series.remember(key, series);
    // From now on it has the key with its sender.
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

/** The members of a series that one more alert of it changes. */
const addTo = (series: Series, id: string, level: string): Partial<Series> => {
  const ids = [...(series.ids ?? [series.id]), id].slice(-mostIds);
  const isWorse = rankOf(toSeverity(level)) <= rankOf(toSeverity(series.level));
  return isWorse ? { ids, id, level } : { ids };
};

/** Which alerts fire, as far as the log is read; the state is another one after it was restored. */
export interface FiringState {
  readonly state: FiringAlerts;
}

/** What alerts of one series have in common; undefined for an alert that nothing will end. */
export const toSeriesKey = (record: LogRecord): string | undefined =>
  isAboutSomething(record)
    ? JSON.stringify([record['sender'] ?? null, record['format'] ?? null, record['fingerprint']])
    : undefined;

/**
 * Undefined for an alert that only its sender ends. Alertmanager ends each alert that is sent to its API; so does
 * signalbox. Elsewhere an end that has passed does not outweigh the sender's word that the alert fires.
 */
export const readHold = (record: LogRecord): AlertHold | undefined => {
  if (record['status'] !== 'firing') return undefined;
  const isOfApi = record['format'] === 'prometheus';
  const end = Date.parse(toText(record['endsAt']));
  if (Number.isNaN(end)) return isOfApi ? {} : undefined;
  const ms = end - (readTime(record) ?? end);
  return isOfApi || ms > 0 ? { ms: Math.max(0, ms) } : undefined;
};
