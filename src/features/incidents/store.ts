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
import { ChangeListeners } from './change-listeners.ts';
import type { Measured } from './draft.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';
import type { IncidentCount } from './incident-counts.ts';
import type { IncidentFilter, IncidentList } from './incident-list.ts';
import type { IncidentName, Incidents } from './incidents.ts';
import { type IncidentsEvent, type IncidentsOutcome, ProjectedIncidents, toRecord } from './projected-incidents.ts';
import type { Rules } from './rules.ts';
import { TimeEvents } from './time-events.ts';

/** Milliseconds for which alerts are collected before they are folded together. */
const gatherMs = 10;

/**
 * Minimum growth of the log between snapshots, in characters: about 100,000 alerts. Folding 100,000 alerts takes as long
 * as writing a snapshot of 20,000 open incidents.
 */
const minGrowth = 32 * MiB;

/** Milliseconds between checks for incidents that change because of the time. */
const tickMs = 1000;

/**
 * Milliseconds between snapshots in a file while incidents change. Keeps the part of the log that startup reads short.
 */
const saveMs = 10 * 60_000;

/** Maximum milliseconds that a request waits for a database. */
const databaseMs = 9000;

/** Maximum milliseconds that an alert list waits for the incidents of its alerts. */
const namesMs = 1000;

/** Parts that are needed only for a log shared by several instances. */
interface SharedParts {
  /** Lease of the instance that appends time and settings events. */
  lease: Lease;
  /** Settings to use before the first settings event. Identical on all instances. */
  firstRules: Rules;
  /** True for a record of this instance. */
  isOwn(record: StoredRecord): boolean;
}

export interface StoreParts {
  /** Log of alerts and incident events. */
  events: FollowedLog;
  snapshot: ProjectionSnapshot;
  /** Resolves to the seq after which folding starts without a snapshot. Default: before the first alert. */
  begin?: (state: ProjectedIncidents, isClosed: () => boolean) => Promise<number>;
  /** Called once a snapshot includes all folded events. */
  onSaved?: () => Promise<void>;
  shared?: SharedParts | undefined;
  rules: Rules;
  /** Receives measurements of this instance's events. */
  observe(measured: Measured): void;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/**
 * Incidents in memory. They are a projection of the alert log. Actions, time and notifications are appended to the log
 * as events. Alerts add no further events. While incidents are unavailable, methods throw StoreUnavailable or reject
 * with it.
 */
export class IncidentStore {
  readonly #parts: StoreParts;
  readonly #projection: Projection<ProjectedIncidents>;
  readonly #listeners: ChangeListeners;
  readonly #timeEvents: TimeEvents;
  /** True once the time up to startup has been folded. */
  #isStarted = false;
  #foldFailure: Error | undefined;
  #savedAt: number;
  readonly #ticking: NodeJS.Timeout;
  #isClosed = false;

  private constructor(parts: StoreParts, projection: Projection<ProjectedIncidents>) {
    const { events, observe, shared, rules } = parts;
    this.#parts = parts;
    this.#projection = projection;
    this.#listeners = new ChangeListeners(observe, events.state().lastSeq);
    this.#timeEvents = new TimeEvents({
      rules,
      now: () => this.#now(),
      state: () => this.#state,
      mayAppend: () => !this.#isClosed && (shared?.lease.isHeld() ?? true) && projection.isCurrent,
      append: (event) => this.#append(event),
    });
    this.#savedAt = this.#now();
    projection.onFolded((outcomes) => {
      this.#setFailure(undefined);
      if (outcomes) this.#listeners.takeOutcomes(outcomes, events.state().lastSeq);
      else this.#listeners.takeRestored(this.#state, projection.seq);
    });
    shared?.lease.onChanged((isHeld) => isHeld && void this.#timeEvents.appendDue());
    this.#ticking = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Opens the store. Folds the alerts in the background. */
  static async open(parts: StoreParts): Promise<IncidentStore> {
    const { events, snapshot, begin, shared, rules, log } = parts;
    const projection = await Projection.open<ProjectedIncidents>({
      log: events,
      snapshot,
      createState: () => new ProjectedIncidents(shared?.firstRules ?? rules, shared?.isOwn),
      ...(begin && { begin }),
      savesForRetention: true,
      onReplaced: () =>
        log.warn('incidents: the alert log was replaced; incidents continue from the end of the new log'),
      isRestoredLater: true,
      gatherMs,
      minGrowth,
      onDamage: (damage) => log.error({ damage }, 'incidents: the snapshot is damaged'),
      onUnsaved: (err) => log.warn({ err }, 'incidents: the snapshot cannot be written; the log is kept'),
    });
    return new IncidentStore(parts, projection);
  }

  /** Lists incidents, most recently changed first. */
  async list(filter: IncidentFilter, limit: number, before?: number): Promise<IncidentList> {
    await this.#waitUntilCurrent();
    return this.#state.list(filter, limit, before);
  }

  /** Finds an incident by id or number. */
  async find(id: string | number): Promise<StoredIncident | undefined> {
    await this.#waitUntilCurrent();
    return this.#state.find(id);
  }

  /** Lists the latest timeline events of an incident, oldest first. */
  listEvents(id: string): readonly StoredEvent[] {
    return this.#state.listEvents(id);
  }

  /** Lists active incidents, and resolved incidents whose resolution has not yet reached every destination. */
  async listUnsettled(): Promise<readonly StoredIncident[]> {
    await this.#waitUntilCurrent();
    return this.#state.listUnsettled();
  }

  /**
   * Lists active incidents, and incidents resolved since a time in Unix milliseconds. Only includes incidents read so
   * far.
   */
  listSince(since: number): StoredIncident[] {
    return this.#state.listSince(since);
  }

  /** True once all incidents from before startup have been read. */
  get hasRead(): boolean {
    return this.#projection.hasRead;
  }

  /** Lists notifications, newest first, before the change `before`. */
  async listSent(filter: SentFilter, limit: number, before?: number): Promise<SentNotification[]> {
    await this.#waitUntilCurrent();
    return this.#state.listSent(filter, limit, before);
  }

  /** Resolves to the incident of each alert. Undefined if the alert has no incident or has not been folded yet. */
  async nameIncidents(alerts: readonly StoredRecord[]): Promise<(IncidentName | undefined)[]> {
    const isKnown = this.#projection.isCurrent && alerts.every(({ seq }) => seq <= this.#projection.seq);
    if (!isKnown && this.#parts.shared) await awaitWithin(namesMs, this.catchUp());
    else if (!isKnown) await this.catchUp();
    return alerts.map((alert) => this.#state.nameIncident(alert));
  }

  count(): IncidentCount[] {
    return this.#state.count();
  }

  /**
   * Error that prevents alerts from being folded or snapshots from being stored. The database reports its own failures.
   */
  get failure(): Error | undefined {
    return this.#foldFailure ?? this.#projection.unsaved;
  }

  /** True while alerts can be folded and actions can be stored. */
  isReady(): boolean {
    if (this.failure !== undefined) return false;
    const isLogged = this.#projection.hasRead && this.#parts.events.state().healthy;
    if (this.#parts.shared) return isLogged;
    // The alerts feature reports a log that cannot be written.
    return !isLogged || this.#projection.isReady;
  }

  /** Calls the listener with new and changed incidents. Includes the incidents of repeated alerts. */
  onChanged(listener: (incidents: readonly StoredIncident[]) => void): void {
    this.#listeners.add(listener);
  }

  /** Calls the listener when a database has lost events. Incidents may then be outdated or missing. */
  onLost(listener: () => void): void {
    this.#listeners.addLost(listener);
  }

  /**
   * Applies an action. Once the action is stored, resolves to the changed incident, or to undefined for an unknown
   * incident. Rejects with an HttpError if the state forbids the action. Rejects with a StoreConflict if `expected`
   * does not include the version of the incident.
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

  /** Resolves once all stored, readable alerts have been folded. */
  async catchUp(): Promise<void> {
    await this.#follow().catch(() => undefined);
  }

  /** Changes the settings for subsequent alerts and times. */
  changeRules(rules: Rules): void {
    this.#timeEvents.changeRules(rules);
  }

  /** Stores a snapshot. On failure, the projection reports the error and the log is kept. */
  async save(): Promise<void> {
    await this.#projection.save().catch(() => undefined);
  }

  async close(): Promise<void> {
    const { shared } = this.#parts;
    this.#isClosed = true;
    clearInterval(this.#ticking);
    // Unless `isReady` is true, the log may contain an event that could not be completely written. Only the next start
    // can read such an event.
    if (!shared && this.#projection.isReady) await this.save();
    await this.#projection.close();
    await shared?.lease.close();
  }

  get #state(): Incidents {
    return this.#projection.state.all;
  }

  /** Throws StoreUnavailable while past events, or events of other instances, are unknown. */
  async #waitUntilCurrent(): Promise<void> {
    if (this.#parts.shared) {
      const isRead = await awaitWithin(
        databaseMs,
        this.#follow().then(() => true),
      );
      if (!isRead) throw createUnreadable(undefined);
      return;
    }
    if (this.#projection.isCurrent && this.#isStarted) return;
    await this.catchUp();
    if (!this.#projection.hasRead) throw createUnreadable(this.#foldFailure);
    this.#isStarted = true;
  }

  async #follow(): Promise<void> {
    try {
      await this.#projection.catchUp();
    } catch (error) {
      this.#setFailure(error as Error);
      throw error instanceof StoreUnavailable ? error : createUnreadable(error as Error);
    } finally {
      // Time passes even if the latest alerts are unreadable.
      await this.#timeEvents.appendDue();
    }
    this.#setFailure(undefined);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  #tick(): void {
    const { onSaved, shared } = this.#parts;
    const { hasRead, unsaved, isCurrent } = this.#projection;
    if (hasRead && !unsaved) void onSaved?.();
    void (isCurrent ? this.#timeEvents.appendDue() : this.catchUp());
    if (shared || !hasRead || this.#now() - this.#savedAt < saveMs) return;
    this.#savedAt = this.#now();
    void this.save();
  }

  #append(event: IncidentsEvent): Promise<IncidentsOutcome> {
    const record = toRecord(event, this.#state.counters.lastNumber);
    return this.#projection.append(record).catch((error: Error) => {
      throw error instanceof StoreUnavailable ? error : createRefusal(error);
    });
  }

  #setFailure(failure: Error | undefined): void {
    const isDatabaseAway = failure instanceof StoreUnavailable && !this.#parts.events.state().healthy;
    if (isDatabaseAway) return;
    if (failure && !this.#foldFailure && !this.#isClosed) {
      this.#parts.log.error(
        { err: failure },
        'incidents: alerts are stored, but cannot be added to incidents at the moment',
      );
    }
    this.#foldFailure = failure;
  }
}

const createRefusal = (cause: Error | undefined): StoreUnavailable => toNotStored('Changes to incidents', cause);

const createUnreadable = (cause: Error | undefined): StoreUnavailable =>
  new StoreUnavailable('Incidents cannot be read at the moment; try again in a second', { cause });
