import { isAboutSomething, readTime, toText } from '../../kit/alert-record.ts';
import type { Concern } from '../../kit/feature.ts';
import type { RaisedSeries } from '../../kit/offers.ts';
import { rankOf, type Severity, severities, toSeverity } from '../../kit/severity.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import { RecentKeys, type Remembered } from '../../storage/recent-keys.ts';
import type { Resolution } from './alert.ts';

/** `storedAt` is when the last one was received. */
interface Series extends Remembered, Omit<RaisedSeries, 'ids'> {
  /** When the first of them was received, in Unix milliseconds. */
  since: number;
  /** Those that fire, the last ones; undefined if there is only that one. */
  ids: string[] | undefined;
  hold: AlertHold | undefined;
}

/** The worst alert of a series, and when the first one was received, in Unix milliseconds. */
export type FiringAlert = Pick<Series, 'id' | 'level' | 'since' | 'isResolved'>;

/** For how long an alert holds from its receipt on, unless it comes again. */
export interface AlertHold {
  /** Until the end that its sender gives; without one, for `resolveTimeout`. */
  ms: number | undefined;
}

interface KnownResolution extends Resolution, Remembered {}

/** How many series are known, how many ids of each, and how many alerts that have ended. */
const mostSeries = 20_000;
const mostIds = 16;
const mostResolutions = 50_000;

/** Minutes for which an alert that nobody resolves counts as firing, and for which an event counts. */
const firingMinutes = 24 * 60;
const eventMinutes = 60;

/**
 * Which alerts fire, and which ones have ended: a fold over the records of the log in their order, so that every instance
 * that reads the same log knows the same. Bounded: of very many alerts it knows the last ones.
 */
export class FiringAlerts {
  readonly #clock: () => Date;
  /** By sender, format and fingerprint. */
  readonly #series: RecentKeys<Series>;
  /** By the id of the alert that has ended. */
  readonly #resolutions: RecentKeys<KnownResolution>;
  readonly #firing = new MinuteCounts(firingMinutes);
  readonly #events = new MinuteCounts(eventMinutes);
  /** Whether there are lines of version 1.0, which do not say who has sent them. */
  #knowsFormer = false;

  constructor(clock: () => Date) {
    this.#clock = clock;
    this.#series = new RecentKeys(clock, { keptMs: Number.POSITIVE_INFINITY, count: mostSeries });
    this.#resolutions = new RecentKeys(clock, { keptMs: Number.POSITIVE_INFINITY, count: mostResolutions });
  }

  /** Takes over the next record of the log; one that was just stored does not have its id yet. */
  add(record: LogRecord, id = toText(record['id'])): void {
    const at = readTime(record) ?? this.#clock().getTime();
    const key = toSeriesKey(record);
    if (key === undefined) {
      if (record['status'] !== 'resolved') this.#events.add(toSeverity(toText(record['level'])), at, 1);
      return;
    }
    if (record['sender'] === undefined) this.#knowsFormer = true;
    const series = this.#find(record, key);
    if (record['status'] === 'resolved') this.#resolve(series, { id, time: toText(record['time']) }, at);
    else this.#fire(key, series, record, { id, at });
  }

  /** The alert that the one of a record ends, if it is known. */
  findFiring(record: LogRecord): FiringAlert | undefined {
    const key = toSeriesKey(record);
    return key === undefined ? undefined : this.#find(record, key);
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
    return key !== undefined && this.#find(record, key)?.isResolved === true;
  }

  /** What has ended the alert of a record, or the one that it reminds of. */
  findResolution({ id, repeatOf }: LogRecord): Resolution | null {
    const known = this.#resolutions.find(toText(repeatOf)) ?? this.#resolutions.find(toText(id));
    return known ? { id: known.id, time: known.time } : null;
  }

  /** How many alerts of a severity fire, of those received in the last 24 hours. */
  countFiring(severity: Severity): number {
    return this.#firing.sum(severity, this.#clock().getTime());
  }

  /** How many alerts of a severity that nobody will resolve were received in the last hour. */
  countEvents(severity: Severity): number {
    return this.#events.sum(severity, this.#clock().getTime());
  }

  #find(record: LogRecord, key: string): Series | undefined {
    const own = this.#series.find(key);
    if (own && !own.isResolved) return own;
    if (!this.#knowsFormer) return own;
    const former = this.#series.find(toSeriesKey({ ...record, sender: undefined }) ?? '');
    return former && !former.isResolved ? former : own;
  }

  #fire(key: string, series: Series | undefined, record: LogRecord, { id, at }: { id: string; at: number }): void {
    const { repeatOf } = record;
    if (repeatOf !== undefined && series?.isResolved) return;
    // An acknowledgement alone does not say that something fires.
    if (record['acknowledges'] === true && (!series || series.isResolved)) return;
    const level = toText(record['level']);
    if (!series || series.isResolved) {
      this.#series.remember(key, {
        id: toText(repeatOf) || id,
        level,
        since: at,
        ids: undefined,
        isResolved: false,
        storedAt: at,
        hold: readHold(record),
      });
      this.#firing.add(toSeverity(level), at, 1);
      return;
    }
    this.#firing.add(toSeverity(series.level), series.storedAt, -1);
    if (repeatOf === undefined) {
      series.ids = [...(series.ids ?? [series.id]), id].slice(-mostIds);
      if (rankOf(toSeverity(level)) <= rankOf(toSeverity(series.level))) Object.assign(series, { id, level });
    }
    series.storedAt = at;
    series.hold = readHold(record);
    this.#firing.add(toSeverity(series.level), at, 1);
    this.#series.remember(key, series);
  }

  #resolve(series: Series | undefined, resolution: Resolution, at: number): void {
    if (!series || series.isResolved) return;
    series.isResolved = true;
    this.#firing.add(toSeverity(series.level), series.storedAt, -1);
    for (const id of new Set([...(series.ids ?? []), series.id])) {
      this.#resolutions.remember(id, { ...resolution, storedAt: at });
    }
  }
}

/** What of the alerts needs somebody's attention now, the worst first; warnings and less do not. */
export const findAlertConcerns = (firing: FiringAlerts): Concern[] =>
  (['CRITICAL', 'ERROR'] as const).flatMap((severity) => {
    const alerts = (count: number): string => `${count} ${severity.toLowerCase()} alert${count === 1 ? '' : 's'}`;
    const [fires, events] = [firing.countFiring(severity), firing.countEvents(severity)];
    const texts = [
      ...(fires > 0 ? [`${alerts(fires)} ${fires === 1 ? 'is' : 'are'} firing`] : []),
      ...(events > 0 ? [`${alerts(events)} in the last hour`] : []),
    ];
    return texts.map((text): Concern => ({ area: 'alerts', severity, text }));
  });

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
  if (Number.isNaN(end)) return isOfApi ? { ms: undefined } : undefined;
  const ms = end - (readTime(record) ?? end);
  return isOfApi || ms > 0 ? { ms: Math.max(0, ms) } : undefined;
};

const minuteMs = 60_000;

/** Counts by severity of the last minutes, in arrays that are allocated once. */
class MinuteCounts {
  readonly #minutes: number;
  /** Which minute, since 1970, each slot is about. */
  readonly #times: Float64Array;
  readonly #counts: Record<Severity, Int32Array>;

  constructor(minutes: number) {
    this.#minutes = minutes;
    this.#times = new Float64Array(minutes);
    const create = () => new Int32Array(minutes);
    this.#counts = { CRITICAL: create(), ERROR: create(), WARNING: create(), INFO: create() };
  }

  /** Adds to the count of the minute that a time in Unix milliseconds is in; older ones than the slot's are ignored. */
  add(severity: Severity, time: number, count: number): void {
    const minute = Math.floor(time / minuteMs);
    const slot = minute % this.#minutes;
    const known = this.#times[slot] ?? 0;
    if (minute < known) return;
    if (minute > known) for (const each of severities) this.#counts[each][slot] = 0;
    this.#times[slot] = minute;
    const counts = this.#counts[severity];
    counts[slot] = Math.max(0, (counts[slot] ?? 0) + count);
  }

  /** The sum of the minutes before `now`, its own included. */
  sum(severity: Severity, now: number): number {
    const first = Math.floor(now / minuteMs) - this.#minutes;
    const counts = this.#counts[severity];
    let sum = 0;
    for (const [slot, minute] of this.#times.entries()) if (minute > first) sum += counts[slot] ?? 0;
    return sum;
  }
}
