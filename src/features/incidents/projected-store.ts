import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import type { SentFilter, SentNotification } from '../../kit/offers.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { MiB } from '../../lib/units.ts';
import { toNotStored } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { Projection, type ProjectionSnapshot } from '../../storage/projection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ActionOn, Rules } from './fold.ts';
import { type FormerIncidents, findBeginning } from './former.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';
import type { Incidents } from './incident-state.ts';
import { type IncidentsEvent, type IncidentsOutcome, ProjectedIncidents, toRecord } from './projected-incidents.ts';
import type { IncidentCount, IncidentFilter, IncidentList, IncidentName, IncidentStore, Observe } from './store.ts';

/** Milliseconds for which alerts are collected, so that many are folded together. */
const gatherMs = 10;

/** Characters of about 100,000 alerts: writing a snapshot of 20,000 open incidents takes as long as folding them. */
const leastGrowth = 32 * MiB;

/** Milliseconds between two looks at the time. */
const lookMs = 1000;

/** After so long a snapshot is stored if anything has changed, so that a start reads little. */
const savedMs = 10 * 60_000;

interface StoreParts {
  /** Alerts, and events of incidents. */
  events: RecordLog;
  snapshot: ProjectionSnapshot;
  /** The incidents of a version before 1.2. */
  former: FormerIncidents;
  rules: Rules;
  observe: Observe;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
  onClosed?: () => Promise<void>;
}

/**
 * Incidents in memory: a projection of the log of alerts, to which what people, time and notifications do to incidents is
 * appended as events. Nothing is written for an alert.
 */
export class ProjectedIncidentStore implements IncidentStore {
  readonly #parts: StoreParts;
  readonly #projection: Projection<ProjectedIncidents>;
  #rules: Rules;
  readonly #listeners: ((incidents: readonly StoredIncident[]) => void)[] = [];
  /** What was stored up to this before the start is no news. */
  readonly #knownSeq: number;
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
    this.#knownSeq = parts.events.state().lastSeq ?? 0;
    this.#savedAt = this.#now();
    projection.onFolded((outcomes) => this.#take(outcomes ?? []));
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  /** Alerts are folded in the background. */
  static async open(parts: StoreParts): Promise<ProjectedIncidentStore> {
    const { events, snapshot, former, rules, clock, log } = parts;
    const projection = await Projection.open<ProjectedIncidents>({
      log: events,
      snapshot,
      createState: () => new ProjectedIncidents(rules),
      begin: (state, isClosed) => findBeginning({ events, former, state, isClosed, clock, log }),
      savesForRetention: true,
      onReplaced: () => log.warn('incidents: the alert log was replaced; they go on at its end'),
      isRestoredLater: true,
      gatherMs,
      leastGrowth,
      onDamage: (damage) => log.error({ damage }, 'incidents: the stored state is damaged'),
      onUnsaved: (err) => log.warn({ err }, 'incidents: the state cannot be written, so the log is kept'),
    });
    return new ProjectedIncidentStore(parts, projection);
  }

  async list(filter: IncidentFilter, limit: number, before?: number): Promise<IncidentList> {
    await this.#waitUntilCurrent();
    return this.#state.list(filter, limit, before);
  }

  async find(id: string | number): Promise<StoredIncident | undefined> {
    await this.#waitUntilCurrent();
    return this.#state.find(id);
  }

  listEvents(id: string): readonly StoredEvent[] {
    return this.#state.listEvents(id);
  }

  async *listUnsettled(): AsyncGenerator<readonly StoredIncident[]> {
    await this.#waitUntilCurrent();
    yield this.#state.listUnsettled();
  }

  async listSent(filter: SentFilter, limit: number, before?: number): Promise<SentNotification[]> {
    await this.#waitUntilCurrent();
    return this.#state.listSent(filter, limit, before);
  }

  async nameIncidents(alerts: readonly StoredRecord[]): Promise<(IncidentName | undefined)[]> {
    if (!this.#projection.isCurrent) await this.catchUp();
    return alerts.map((alert) => this.#state.nameIncident(alert));
  }

  count(): IncidentCount[] {
    return this.#state.count();
  }

  get lastCounts(): readonly IncidentCount[] {
    return this.#state.count();
  }

  get failure(): Error | undefined {
    return this.#foldFailure ?? this.#projection.unsaved;
  }

  isReady(): boolean {
    // A log that cannot be written is told of as such.
    const isLogged = this.#projection.hasRead && this.#parts.events.state().healthy;
    return this.failure === undefined && (!isLogged || this.#projection.isReady);
  }

  onChanged(listener: (incidents: readonly StoredIncident[]) => void): void {
    this.#listeners.push(listener);
  }

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

  async catchUp(): Promise<void> {
    await this.#projection.catchUp().then(
      () => this.#noteFolding(undefined),
      (error: Error) => this.#noteFolding(error),
    );
    await this.#advance();
  }

  changeRules(rules: Rules): void {
    this.#rules = rules;
    void this.#advance();
  }

  async reopen(): Promise<void> {
    await this.save();
  }

  /** Stores a snapshot; a failure is reported, and keeps the log. What is moved away is missing on the next start unless it is in one. */
  async save(): Promise<void> {
    await this.#projection.save().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#looking);
    // An event that is in doubt could count in the next start.
    if (this.#projection.isReady) await this.save();
    await this.#projection.close();
    await this.#parts.onClosed?.();
  }

  get #state(): Incidents {
    return this.#projection.state.all;
  }

  /** Throws StoreUnavailable while it is not known what people did before. */
  async #waitUntilCurrent(): Promise<void> {
    if (this.#projection.isCurrent && this.#hasBegun) return;
    await this.catchUp();
    if (!this.#projection.hasRead)
      throw new StoreUnavailable('Incidents cannot be read at the moment; try again in a second');
    this.#hasBegun = true;
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  #look(): void {
    if (this.#projection.hasRead && !this.#projection.unsaved) void this.#parts.former.noteRead();
    void (this.#projection.isCurrent ? this.#advance() : this.catchUp());
    if (!this.#projection.hasRead || this.#now() - this.#savedAt < savedMs) return;
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
    if (this.#isClosed || !this.#projection.isCurrent) return undefined;
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
    this.#noteFolding(undefined);
    const changed = new Map<string, StoredIncident>();
    for (const outcome of outcomes) {
      if (outcome.seq <= this.#knownSeq) continue;
      if (outcome.measured && outcome.changed.length > 0) this.#parts.observe(outcome.measured);
      for (const incident of outcome.changed) changed.set(incident.id, incident);
    }
    if (changed.size === 0) return;
    const incidents = [...changed.values()];
    for (const listener of this.#listeners) listener(incidents);
  }

  #noteFolding(failure: Error | undefined): void {
    if (failure && !this.#foldFailure && !this.#isClosed) {
      this.#parts.log.error({ err: failure }, 'incidents: alerts are stored, but cannot be folded at the moment');
    }
    this.#foldFailure = failure;
  }
}

const createRefusal = (cause: Error | undefined): StoreUnavailable => toNotStored('Changes of incidents', cause);
