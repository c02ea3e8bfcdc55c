import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import type { SentFilter, SentNotification } from '../../kit/incident-source.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import { MiB } from '../../lib/units.ts';
import { toNotStored } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import { Projection } from '../../storage/projection.ts';
import type { FollowedLog } from '../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import type { ActionOn } from './action.ts';
import type { Measured } from './fold.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';
import type { IncidentFilter, IncidentList } from './incident-list.ts';
import type { IncidentCount, IncidentName, Incidents } from './incident-state.ts';
import { type IncidentsEvent, type IncidentsOutcome, ProjectedIncidents, toRecord } from './projected-incidents.ts';
import type { Rules } from './rules.ts';

/** Milliseconds for which alerts are collected, so that many are folded together. */
const gatherMs = 10;

/** Characters of about 100,000 alerts: writing a snapshot of 20,000 open incidents takes as long as folding them. */
const minGrowth = 32 * MiB;

/** Milliseconds between two looks at the time. */
const lookMs = 1000;

/** After so long a snapshot is stored in files if anything has changed, so that a start reads little. */
const savedMs = 10 * 60_000;

/** Milliseconds that a request waits at most for a database, and that a list of alerts waits for the names of their incidents. */
const databaseMs = 9000;
const namesMs = 1000;

/** What is different where instances share the log. */
interface SharedParts {
  /** Its holder appends that time passes, and its settings. */
  lease: Lease;
  /** The settings where no event has others: the same on all instances. */
  firstRules: Rules;
  /** Whether this instance has appended the record. */
  isOwn(record: StoredRecord): boolean;
}

export interface StoreParts {
  /** Alerts, and events of incidents. */
  events: FollowedLog;
  snapshot: ProjectionSnapshot;
  /** Resolves to the seq after which incidents are folded where there is no snapshot; by default all are. */
  begin?: (state: ProjectedIncidents, isClosed: () => boolean) => Promise<number>;
  /** Called when all that was folded is in a snapshot. */
  noteSaved?: () => Promise<void>;
  shared?: SharedParts | undefined;
  rules: Rules;
  /** Gets what is measured of events of this instance. */
  observe(measured: Measured): void;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
  onClosed?: () => Promise<void>;
}

/**
 * Incidents in memory: a projection of the log of alerts, to which what people, time and notifications do to incidents is
 * appended as events. Nothing is written for an alert. Methods throw StoreUnavailable, also in their promises, while incidents
 * cannot be used.
 */
export class IncidentStore {
  readonly #parts: StoreParts;
  readonly #projection: Projection<ProjectedIncidents>;
  #rules: Rules;
  readonly #listeners: ((incidents: readonly StoredIncident[]) => void)[] = [];
  readonly #lostListeners: (() => void)[] = [];
  /** What is stored up to this is no news; undefined until a database was reached. */
  #knownSeq: number | undefined;
  /** As they were restored last. */
  #restored: Incidents | undefined;
  /** What time has changed while nothing ran is known. */
  #hasBegun = false;
  #foldFailure: Error | undefined;
  #savedAt: number;
  #advancing: Promise<void> | undefined;
  readonly #looking: NodeJS.Timeout;
  #isClosed = false;

  private constructor(parts: StoreParts, projection: Projection<ProjectedIncidents>) {
    this.#parts = parts;
    this.#projection = projection;
    this.#rules = parts.rules;
    this.#knownSeq = parts.events.state().lastSeq;
    this.#savedAt = this.#now();
    projection.onFolded((outcomes) => {
      this.#noteFolding(undefined);
      if (outcomes) this.#take(outcomes);
      else this.#takeRestored();
    });
    parts.shared?.lease.onChanged((isHeld) => isHeld && void this.#advance());
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  /** Alerts are folded in the background. */
  static async open(parts: StoreParts): Promise<IncidentStore> {
    const { events, snapshot, begin, shared, rules, log } = parts;
    const projection = await Projection.open<ProjectedIncidents>({
      log: events,
      snapshot,
      createState: () => new ProjectedIncidents(shared?.firstRules ?? rules, shared?.isOwn),
      ...(begin && { begin }),
      savesForRetention: true,
      onReplaced: () => log.warn('incidents: the alert log was replaced; they go on at its end'),
      isRestoredLater: true,
      gatherMs,
      minGrowth,
      onDamage: (damage) => log.error({ damage }, 'incidents: the snapshot is damaged'),
      onUnsaved: (err) => log.warn({ err }, 'incidents: the snapshot cannot be written, so the log is kept'),
    });
    return new IncidentStore(parts, projection);
  }

  async list(filter: IncidentFilter, limit: number, before?: number): Promise<IncidentList> {
    await this.#waitUntilCurrent();
    return this.#state.list(filter, limit, before);
  }

  /** By its id or its number. */
  async find(id: string | number): Promise<StoredIncident | undefined> {
    await this.#waitUntilCurrent();
    return this.#state.find(id);
  }

  /** Its last events, oldest first. */
  listEvents(id: string): readonly StoredEvent[] {
    return this.#state.listEvents(id);
  }

  /** Those that are not resolved, and those with destinations that have not heard that they are; some at a time. */
  async *listUnsettled(): AsyncGenerator<readonly StoredIncident[]> {
    await this.#waitUntilCurrent();
    yield this.#state.listUnsettled();
  }

  /** What destinations were told, newest first, before the place of another one. */
  async listSent(filter: SentFilter, limit: number, before?: number): Promise<SentNotification[]> {
    await this.#waitUntilCurrent();
    return this.#state.listSent(filter, limit, before);
  }

  /** The incidents of alerts, in their order; undefined for those that are in none, or were not folded yet. */
  async nameIncidents(alerts: readonly StoredRecord[]): Promise<(IncidentName | undefined)[]> {
    const isKnown = this.#projection.isCurrent && alerts.every(({ seq }) => seq <= this.#projection.seq);
    if (!isKnown && this.#parts.shared) await awaitWithin(namesMs, this.catchUp());
    else if (!isKnown) await this.catchUp();
    return alerts.map((alert) => this.#state.nameIncident(alert));
  }

  count(): IncidentCount[] {
    return this.#state.count();
  }

  /** Why alerts are not folded, or snapshots not stored, at the moment; a database says itself that it cannot be used. */
  get failure(): Error | undefined {
    return this.#foldFailure ?? this.#projection.unsaved;
  }

  /** Whether alerts are folded and actions stored at the moment. */
  isReady(): boolean {
    const { shared, events } = this.#parts;
    if (shared) return this.failure === undefined && this.#projection.hasRead && events.state().healthy;
    // A log that cannot be written is told of as such.
    const isLogged = this.#projection.hasRead && events.state().healthy;
    return this.failure === undefined && (!isLogged || this.#projection.isReady);
  }

  /** Calls the listener with incidents that are new or have changed, also where they only have more alerts. */
  onChanged(listener: (incidents: readonly StoredIncident[]) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls the listener when a database has lost events: incidents may be as they were before, or gone. */
  onLost(listener: () => void): void {
    this.#lostListeners.push(listener);
  }

  /**
   * Resolves, once the action is stored, to the incident as it is then; to undefined if there is none. Rejects with an
   * HttpError if its state forbids that, and with a StoreConflict unless its version is expected.
   */
  async act(action: ActionOn, expected?: readonly number[]): Promise<StoredIncident | undefined> {
    await this.#waitUntilCurrent();
    if (this.#isClosed) throw createRefusal(undefined);
    const event = { at: this.#now(), action, ...(expected && { expected }) };
    const { incident, refusal, count } = this.#projection.state.foresee(event);
    if (refusal) throw refusal;
    if (count === 0) return incident;
    const done = await this.#append(event);
    if (done.refusal) throw done.refusal;
    return done.incident;
  }

  /** Resolves when all alerts are folded that are stored now, as far as they can be read. */
  async catchUp(): Promise<void> {
    await this.#follow().catch(() => undefined);
  }

  /** Changes the settings that decide the state, from now on. */
  changeRules(rules: Rules): void {
    this.#rules = rules;
    void this.#advance();
  }

  /** Stores a snapshot; a failure is reported, and keeps the log. What is moved away is missing on the next start unless it is in one. */
  async save(): Promise<void> {
    await this.#projection.save().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#looking);
    // An event that is in doubt could count in the next start.
    if (!this.#parts.shared && this.#projection.isReady) await this.save();
    await this.#projection.close();
    await this.#parts.shared?.lease.close();
    await this.#parts.onClosed?.();
  }

  get #state(): Incidents {
    return this.#projection.state.all;
  }

  /** Throws StoreUnavailable while it is not known what people did before, here or at other instances. */
  async #waitUntilCurrent(): Promise<void> {
    if (this.#parts.shared) {
      const isRead = await awaitWithin(
        databaseMs,
        this.#follow().then(() => true),
      );
      if (!isRead) throw createUnreadable(undefined);
      return;
    }
    if (this.#projection.isCurrent && this.#hasBegun) return;
    await this.catchUp();
    if (!this.#projection.hasRead) throw createUnreadable(this.#foldFailure);
    this.#hasBegun = true;
  }

  async #follow(): Promise<void> {
    try {
      await this.#projection.catchUp();
    } catch (error) {
      this.#noteFolding(error as Error);
      throw error instanceof StoreUnavailable ? error : createUnreadable(error as Error);
    } finally {
      // Time goes on although the last alerts cannot be read.
      await this.#advance();
    }
    this.#noteFolding(undefined);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  #look(): void {
    const { noteSaved, shared } = this.#parts;
    if (this.#projection.hasRead && !this.#projection.unsaved) void noteSaved?.();
    void (this.#projection.isCurrent ? this.#advance() : this.catchUp());
    if (shared || !this.#projection.hasRead || this.#now() - this.#savedAt < savedMs) return;
    this.#savedAt = this.#now();
    void this.save();
  }

  /** Lets time pass, if it changes anything, and notes settings that have changed. */
  #advance(): Promise<void> {
    this.#advancing ??= this.#appendDue().finally(() => {
      this.#advancing = undefined;
    });
    return this.#advancing;
  }

  async #appendDue(): Promise<void> {
    try {
      for (let event = this.#findDue(); event; event = this.#findDue()) await this.#append(event);
    } catch {
      // The log says why it cannot be written.
    }
  }

  #findDue(): IncidentsEvent | undefined {
    const isActing = this.#parts.shared?.lease.isHeld() ?? true;
    if (this.#isClosed || !isActing || !this.#projection.isCurrent) return undefined;
    const at = this.#now();
    const areOther = !isDeepStrictEqual(this.#state.rules, this.#rules);
    if (areOther) return { at, rules: this.#rules };
    return this.#state.listDue(at).length > 0 || this.#state.hasForgettable(at) ? { at } : undefined;
  }

  #append(event: IncidentsEvent): Promise<IncidentsOutcome> {
    const record = toRecord(event, this.#state.counters.lastNumber);
    return this.#projection.append(record).catch((error: Error) => {
      throw error instanceof StoreUnavailable ? error : createRefusal(error);
    });
  }

  #take(outcomes: readonly IncidentsOutcome[]): void {
    this.#knownSeq ??= this.#parts.events.state().lastSeq ?? 0;
    const changed = new Map<string, StoredIncident>();
    for (const outcome of outcomes) {
      if (outcome.seq <= this.#knownSeq) continue;
      this.#knownSeq = outcome.seq;
      if (outcome.measured && outcome.changed.length > 0) this.#parts.observe(outcome.measured);
      for (const incident of outcome.changed) changed.set(incident.id, incident);
    }
    this.#tell([...changed.values()]);
  }

  /** Where it was not the start, a database has lost events, or the snapshot alone has them. */
  #takeRestored(): void {
    const before = this.#restored;
    this.#restored = this.#state;
    if (!before) return;
    this.#knownSeq = this.#projection.seq;
    for (const listener of this.#lostListeners) listener();
    this.#tell(this.#state.listOther(before));
  }

  #tell(incidents: readonly StoredIncident[]): void {
    if (incidents.length > 0) for (const listener of this.#listeners) listener(incidents);
  }

  #noteFolding(failure: Error | undefined): void {
    const isDatabaseAway = failure instanceof StoreUnavailable && !this.#parts.events.state().healthy;
    if (isDatabaseAway) return;
    if (failure && !this.#foldFailure && !this.#isClosed) {
      this.#parts.log.error({ err: failure }, 'incidents: alerts are stored, but cannot be folded at the moment');
    }
    this.#foldFailure = failure;
  }
}

const createRefusal = (cause: Error | undefined): StoreUnavailable => toNotStored('Changes of incidents', cause);

const createUnreadable = (cause: Error | undefined): StoreUnavailable =>
  new StoreUnavailable('Incidents cannot be read at the moment; try again in a second', { cause });
