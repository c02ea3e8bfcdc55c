import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../kit/alert-record.ts';
import type { CheckId, CheckKind, CheckSource } from '../../kit/availability.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import type { SilenceSource } from '../../kit/silence-source.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { Slice } from '../../lib/slice.ts';
import { dayMs, minuteMs } from '../../lib/units.ts';
import { cutText } from '../../lib/well-formed.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { AvailabilityEvent } from './events.ts';
import type { AvailabilityStore } from './store.ts';

const lookMs = 1000;

/**
 * Milliseconds between two signs of life. After a kill, the state is unknown from the last sign of life onwards. A
 * longer pause of this process, or a clock jump, counts as a gap.
 */
const aliveMs = 30_000;

/** Milliseconds after which a place observed by another instance counts as unobserved. */
const staleMs = 90_000;

/** Milliseconds for which the history of a deleted check is kept. */
const deletedMs = 30 * dayMs;

/** Milliseconds by which the start or end of maintenance may be detected late and still be recorded as punctual. */
const lateMs = 5000;

const maxWaiting = 50_000;
const storedTogether = 500;
const maxCauseLength = 200;

/** Milliseconds between two log lines about failures. */
const warnMs = minuteMs;

interface RecorderParts {
  store: AvailabilityStore;
  /** Lease of the instance that records events without a place: maintenance, incidents, deletions and lost places. */
  lease: Pick<Lease, 'isHeld'>;
  silences: Pick<SilenceSource, 'isMaintained' | 'nextChangeAfter' | 'onChanged'>;
  incidents: Pick<IncidentSource, 'listUnsettled' | 'onChanged'>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Place that this instance observes. */
interface OwnPlace {
  /** Time at which the observation started. */
  since: number;
  /** Last recorded states. */
  states: Map<CheckId, { state: 'up' | 'down' | 'unknown'; createdAt: number | undefined }>;
}

/**
 * Compares the states of checks with their histories, once a second and after each change. Appends the differences to
 * the log.
 */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #sources: CheckSource[] = [];
  readonly #places = new Map<string, OwnPlace>();
  /** Numbers of unresolved incidents by check. */
  readonly #incidents = new Map<CheckId, number>();
  /** Events that are not stored yet, oldest first. */
  #waiting: AvailabilityEvent[] = [];
  readonly #serially = createSerial();
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the last comparison. */
  #seenAt: number | undefined;
  #aliveAt = Number.NEGATIVE_INFINITY;
  /** Time of the next comparison of all checks. */
  #comparesAt = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  add(source: CheckSource): void {
    this.#sources.push(source);
    source.onChanged((name) => {
      // After a clock change, places start over before their checks are compared.
      this.#checkClock(this.#now());
      if (name === undefined) this.#comparesAt = 0;
      else if (this.#compare(source, name)) void this.#serially(() => this.#flush()).catch(() => undefined);
    });
  }

  start(): void {
    const { silences, incidents } = this.#parts;
    silences.onChanged(() => {
      this.#comparesAt = 0;
    });
    incidents.onChanged((changed) => this.#noteIncidents(changed));
    this.#timer = setInterval(() => void this.look(), lookMs).unref();
    void this.#serially(async () => this.#noteIncidents(await incidents.listUnsettled())).catch(() => undefined);
    void this.look();
  }

  /** Records all changes immediately. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#serially(() => this.#look())
      .catch((error: unknown) => this.#warn(error))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    await this.#serially(async () => {
      this.#noteAlive(this.#now());
      await this.#flush();
    }).catch(() => undefined);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  async #look(): Promise<void> {
    const { store } = this.#parts;
    if (!store.isReady) await store.catchUp();
    const now = this.#now();
    this.#seenAt ??= now;
    this.#checkClock(now);
    if (store.state.isTooEarly(now)) return;
    await this.#takePlaces(now);
    if (now >= this.#comparesAt) await this.#compareAll(now);
    if (Math.abs(now - this.#aliveAt) >= aliveMs) this.#noteAlive(now);
    await this.#flush();
  }

  /** Detects clock jumps and pauses of this process. */
  #checkClock(now: number): void {
    if (this.#seenAt === undefined) return;
    const before = this.#seenAt;
    this.#seenAt = now;
    if (now < before - aliveMs) this.#waiting.push({ type: 'clock', at: now });
    // All places start over, with a gap.
    if (Math.abs(now - before) > aliveMs) this.#places.clear();
  }

  /**
   * Starts to observe places that have become this instance's responsibility. Stops observing places that no longer
   * are.
   */
  async #takePlaces(now: number): Promise<void> {
    const { store } = this.#parts;
    const wanted = new Set(
      this.#sources.flatMap((source) => source.listPlaces().map((place) => toPlace(source, place))),
    );
    for (const place of this.#places.keys()) if (!wanted.has(place)) this.#places.delete(place);
    const added = [...wanted].filter((place) => !this.#places.has(place));
    if (added.length === 0) return;
    await this.#flush();
    await store.catchUp();
    const { state } = store;
    for (const place of added) {
      const aliveAt = state.listAlive().get(place);
      if (aliveAt !== undefined && now < aliveAt - aliveMs) this.#waiting.push({ type: 'clock', at: now });
      if (aliveAt !== undefined) this.#waiting.push({ type: 'gap', place, from: aliveAt, at: now });
      this.#places.set(place, { since: now, states: new Map() });
    }
    this.#aliveAt = Number.NEGATIVE_INFINITY;
    this.#comparesAt = 0;
  }

  #noteAlive(at: number): void {
    this.#aliveAt = at;
    if (this.#places.size > 0) this.#waiting.push({ type: 'alive', places: [...this.#places.keys()], at });
  }

  async #compareAll(now: number): Promise<void> {
    const { lease, silences } = this.#parts;
    const dueAt = this.#comparesAt;
    this.#comparesAt = Math.min(now + minuteMs, silences.nextChangeAfter(now) ?? Number.POSITIVE_INFINITY);
    const slice = new Slice();
    for (const source of this.#sources) {
      const defined = source.listDefined();
      if (!defined) continue;
      for (const { name } of defined) {
        this.#compare(source, name);
        if (slice.isOver) await slice.giveWay();
      }
      this.#dropDeleted(source, new Set(defined.map(({ name }) => toId(source, name))), now);
    }
    if (!lease.isHeld()) return;
    // The histories must include all earlier events.
    await this.#flush();
    this.#findLostPlaces(now);
    // Maintenance is recorded at the times given by the silences, because timers can be late.
    const at = now - dueAt < lateMs ? dueAt : now;
    for (const source of this.#sources) {
      const defined = source.listDefined();
      if (!defined) continue;
      for (const { name } of defined) {
        this.#compareMaintenance(source, name, at);
        if (slice.isOver) await slice.giveWay();
      }
      this.#findDeleted(source.kind, new Set(defined.map(({ name }) => toId(source, name))), now);
    }
    for (const check of this.#incidents.keys()) this.#compareIncident(check, now);
  }

  /** Adds an event if the state of the source differs from the last recorded state. Returns true if it does. */
  #compare(source: CheckSource, name: string): boolean {
    const reading = source.read(name);
    const own = reading && this.#places.get(toPlace(source, reading.place));
    if (!reading || !own) return false;
    const check = toId(source, name);
    const known = own.states.get(check) ?? { state: 'unknown', createdAt: this.#parts.store.find(check)?.createdAt };
    const { state, createdAt } = reading;
    // An unknown state would create a history without any information.
    if (state === known.state && (known.createdAt === undefined || known.createdAt === createdAt)) return false;
    own.states.set(check, { state, createdAt });
    const at = Math.max(reading.at, own.since);
    const incident = state === 'down' ? this.#incidents.get(check) : undefined;
    this.#add({
      type: 'state',
      check,
      createdAt,
      place: toPlace(source, reading.place),
      state,
      at,
      ...(reading.cause !== undefined && { cause: cutText(reading.cause, maxCauseLength) }),
      ...(incident !== undefined && { incident }),
    });
    return true;
  }

  /** Ends the states of deleted checks that this instance observed. */
  #dropDeleted({ kind }: CheckSource, defined: ReadonlySet<CheckId>, at: number): void {
    for (const [place, { states }] of this.#places) {
      for (const [check, { state, createdAt = 0 }] of states) {
        if (!check.startsWith(`${kind}:`) || defined.has(check)) continue;
        states.delete(check);
        if (state !== 'unknown') this.#add({ type: 'state', check, createdAt, place, state: 'unknown', at });
      }
    }
  }

  /** Adds gaps for places whose instances have stopped. */
  #findLostPlaces(now: number): void {
    for (const [place, aliveAt] of this.#parts.store.state.listAlive()) {
      const isLost = !this.#places.has(place) && now - aliveAt > staleMs;
      if (isLost) this.#add({ type: 'gap', place, from: aliveAt, at: now });
    }
  }

  #compareMaintenance(source: CheckSource, name: string, at: number): void {
    const { silences, store } = this.#parts;
    const check = toId(source, name);
    const defined = source.find(name);
    const isOn = defined !== undefined && silences.isMaintained(defined.subject, at);
    if (defined && isOn !== (store.find(check)?.isMaintained ?? false)) {
      this.#add({ type: 'maintenance', check, createdAt: defined.createdAt, isOn, at });
    }
  }

  #findDeleted(kind: CheckKind, defined: ReadonlySet<CheckId>, at: number): void {
    for (const { check, deletedAt, isObserved } of this.#parts.store.state.list()) {
      if (!check.startsWith(`${kind}:`) || defined.has(check)) continue;
      // Another instance may have the check in its config file.
      if (deletedAt === null && !isObserved) this.#add({ type: 'deleted', check, at });
      if (deletedAt !== null && at - deletedAt > deletedMs) this.#add({ type: 'forgotten', check, at });
    }
  }

  #noteIncidents(changed: readonly SharedIncident[]): void {
    for (const { sender, source, state, number } of changed) {
      const check = sender === ownSender ? toCheck(source) : undefined;
      if (!check) continue;
      if (state === 'resolved') this.#incidents.delete(check);
      else this.#incidents.set(check, number);
      this.#comparesAt = 0;
    }
    // A short outage may end before the next comparison.
    if (this.#comparesAt === 0) void this.look();
  }

  #compareIncident(check: CheckId, at: number): void {
    const incident = this.#incidents.get(check);
    const isMissing = this.#parts.store.find(check)?.timeline.lacksIncident === true;
    if (incident !== undefined && isMissing) this.#add({ type: 'incident', check, incident, at });
  }

  #add(event: AvailabilityEvent): void {
    this.#waiting.push(event);
    // If nothing can be stored for a long time, the oldest changes are lost.
    if (this.#waiting.length > maxWaiting) this.#waiting.shift();
  }

  /** Stores the waiting events. Rejects if the log cannot store them. The events then keep waiting. */
  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const events = this.#waiting.splice(0, storedTogether);
      try {
        await this.#parts.store.append(events);
      } catch (error) {
        this.#waiting.unshift(...events);
        throw error;
      }
    }
  }

  /** Logs at most once a minute. Skips the error of an unavailable store, because the store itself logs it. */
  #warn(err: unknown): void {
    if (err instanceof StoreUnavailable || performance.now() - this.#warnedAt < warnMs) return;
    this.#warnedAt = performance.now();
    this.#parts.log.warn({ err }, 'availability: state changes of checks cannot be stored; trying again');
  }
}

const toId = ({ kind }: Pick<CheckSource, 'kind'>, name: string): CheckId => `${kind}:${name}`;

/** Returns a name that distinguishes places of different kinds of checks. */
const toPlace = ({ kind }: Pick<CheckSource, 'kind'>, place: string): string => `${kind}/${place}`;

/** Returns the check that raises alerts with this source. */
const toCheck = (source: string): CheckId | undefined =>
  /^(?:watch|heartbeat|host)\/./.test(source) ? (source.replace('/', ':') as CheckId) : undefined;
