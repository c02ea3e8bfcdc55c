import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../../kit/alert-record.ts';
import { DueTimes } from '../../../kit/due-times.ts';
import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentNotification } from '../../../kit/incident-responses.ts';
import type { IncidentDelivery, IncidentSource } from '../../../kit/incident-source.ts';
import type { SilenceSource } from '../../../kit/silence-source.ts';
import { Slice } from '../../../lib/slice.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import type { Escalations } from '../escalation/escalations.ts';
import { ActionQueue } from './action-queue.ts';
import { describeNotifications } from './describe-notifications.ts';
import type { IncidentDestination } from './incident-destination.ts';
import type { IncidentDestinations } from './incident-destinations.ts';
import { type Blocks, IncidentPlanner, listBlockActions } from './incident-planner.ts';
import { NextChange, type OnCallSource } from './next-change.ts';
import { isPlanned, isReady, type NotificationPlan, type PlannedUpdate } from './plan.ts';
import { UnsettledIncidents } from './unsettled-incidents.ts';

/** Maximum milliseconds between clock checks. The system clock can be set at any time. */
const longestWaitMs = 1000;

/**
 * Maximum milliseconds by which the clock may be set back without replanning all incidents. After a larger change,
 * stored times may lie in the future.
 */
const mostSetBackMs = 10_000;

/** Milliseconds after which an incident is planned again if planning it failed. */
const retryMs = 1000;

interface NotifierParts {
  source: IncidentSource;
  destinations: IncidentDestinations;
  silences: SilenceSource;
  onCall: OnCallSource;
  escalations: Pick<Escalations, 'isReady' | 'next' | 'decide' | 'governs' | 'isNotOnCall' | 'isStarting'>;
  lease: Lease;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'error'>;
}

/**
 * Passes incidents to their destinations when notifications are due. Plans follow from the stored incident and the
 * time. Only an index of the incidents is therefore kept here. It is rebuilt after a restart.
 */
export class Notifier {
  readonly #parts: NotifierParts;
  readonly #planner: IncidentPlanner;
  readonly #incidents: UnsettledIncidents;
  /** Times at which incidents are planned again. */
  readonly #due = new DueTimes();
  /** Incidents to plan again at the next handover, or when a silence begins or ends. */
  readonly #blocked = new Set<string>();
  /** Incidents to plan again when one of their causes changes. */
  readonly #held = new Set<string>();
  readonly #actions: ActionQueue;
  readonly #nextChange: NextChange;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds by which the system clock is ahead of the monotonic clock. */
  #clockOffset: number;
  readonly #clockTimer: NodeJS.Timeout;
  /** Changed incidents that have not been planned yet. */
  readonly #changed = new Set<string>();
  #isPlanning = false;
  #isReplanning = false;
  #isOutdated = false;
  #isClosed = false;

  constructor(parts: NotifierParts) {
    const { source, destinations, silences, lease, log } = parts;
    this.#parts = parts;
    this.#planner = new IncidentPlanner(parts);
    this.#nextChange = new NextChange(parts);
    this.#incidents = new UnsettledIncidents({
      source,
      log,
      onLoaded: () => this.#replanAll(),
      onRemoved: (id) => this.#forget(id),
    });
    this.#actions = new ActionQueue({
      act: (action) => source.act(action),
      onStored: ({ id }, incident) => (incident ? this.#update(incident) : this.#incidents.remove(id)),
      onAttempted: () => void this.#planChanged(),
    });
    this.#clockOffset = this.#now() - performance.now();
    this.#clockTimer = setInterval(() => this.#checkClock(), longestWaitMs).unref();
    source.onChanged((incidents) => {
      for (const incident of incidents) this.#update(incident);
      void this.#planChanged();
    });
    source.onLost(() => this.#incidents.reload());
    source.onHoldsChanged(() => void this.#replanAll());
    destinations.onChanged(() => {
      if (this.#incidents.isLoaded) void this.#replanAll();
      else this.#load();
    });
    silences.onChanged(() => void this.#replanAll());
    lease.onChanged((isHeld) => {
      if (isHeld) this.#load();
      else for (const one of this.#destinations ?? []) one.queue.advance();
    });
  }

  /** Plans all incidents again. People on call, policies or routing may have changed. */
  replanSoon(): void {
    void this.#replanAll();
  }

  /** Returns the last and next notification of an incident for each destination. */
  describe(incident: SharedIncident): IncidentNotification[] {
    const now = this.#now();
    const blocks = this.#planner.findBlocks(incident, now);
    const planFor = (destination: IncidentDestination) => this.#planner.plan(incident, destination, now, blocks);
    return describeNotifications(incident, this.#destinations ?? [], planFor, now);
  }

  /** Returns the next notifications for the incidents with these ids, and for the incidents that are due earliest. */
  listPlanned(
    ids: readonly string[],
    most: number,
  ): { incident: SharedIncident; notifications: IncidentNotification[] }[] {
    const listed = new Set([...ids, ...this.#due.list(most).map(({ id }) => id), ...this.#blocked]);
    return [...listed].slice(0, most).flatMap((id) => {
      const incident = this.#incidents.get(id);
      return incident ? [{ incident, notifications: this.describe(incident) }] : [];
    });
  }

  /** True if this instance currently sends notifications. */
  maySend(): boolean {
    return this.#incidents.isLoaded && this.#parts.lease.isHeld();
  }

  /** Returns the current update about the incident for a message. Undefined if no notification is due. */
  prepare(destination: IncidentDestination, id: string): PlannedUpdate | undefined {
    const incident = this.#incidents.get(id);
    if (!incident || !this.#parts.lease.isHeld()) return undefined;
    const now = this.#now();
    const plan = this.#planner.plan(incident, destination, now);
    return isReady(plan, now) ? { ...plan, incident } : undefined;
  }

  /**
   * Records that a message about the incident was delivered or given up. Resolves once the result is stored. Never
   * rejects.
   */
  storeDelivery(id: string, delivery: IncidentDelivery): Promise<void> {
    return this.#actions.add({ type: 'notify', id, by: ownSender, ...delivery });
  }

  /**
   * Records that the first message about the incident is being sent. Resolves once the attempt is stored. Never
   * rejects.
   */
  storeAttempt(id: string, destination: string): Promise<void> {
    return this.#actions.add({ type: 'attempt', id, by: ownSender, destination });
  }

  /** Plans the next notification of an incident to one destination. */
  replan(destination: IncidentDestination, id: string): void {
    const incident = this.#incidents.get(id);
    if (incident) this.#planOne(incident, destination);
    this.#setTimer();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#actions.close();
    clearTimeout(this.#timer);
    clearInterval(this.#clockTimer);
    await this.#incidents.close();
  }

  /** Undefined until destinations have been opened. */
  get #destinations(): readonly IncidentDestination[] | undefined {
    return this.#parts.destinations.list;
  }

  #load(): void {
    if (this.#destinations) this.#incidents.load();
  }

  #forget(id: string): void {
    this.#due.set(id, Number.POSITIVE_INFINITY);
    this.#blocked.delete(id);
    this.#held.delete(id);
    for (const one of this.#destinations ?? []) one.forget(id);
  }

  #update(incident: SharedIncident): void {
    const known = this.#incidents.get(incident.id);
    const mayChangeHolds = this.#held.size > 0 && (!known || !hasSameEffect(known, incident));
    if (mayChangeHolds && [known ?? incident, incident].some((each) => this.#parts.source.isCause(each)))
      for (const id of this.#held) this.#changed.add(id);
    if (!this.#incidents.put(incident) || !this.#incidents.isLoaded || !this.#incidents.get(incident.id)) return;
    // Further alerts, and notifications sent by this server, do not change plans unless an alert ends a silence.
    const isUnchanged = known && this.#parts.lease.isHeld() && isPlanOf(known, incident);
    if (isUnchanged && !this.#blocked.has(incident.id)) return;
    this.#changed.add(incident.id);
  }

  /** Plans incidents that have changed or are due. Starts without delay. */
  async #planChanged(): Promise<void> {
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    const slice = new Slice();
    for (const id of this.#takeUnplanned()) {
      const incident = this.#incidents.get(id);
      if (incident) this.#plan(incident);
      // Runs after the last incident too, because the next change may arrive in the same event-loop turn.
      if (slice.isOver) await this.#giveWay(slice);
      if (this.#isClosed) return;
    }
    this.#isPlanning = false;
    this.#setTimer();
  }

  /** Yields changed incidents, and before each of them all incidents that are due. */
  *#takeUnplanned(): Generator<string> {
    yield* this.#due.take(this.#now());
    for (const id of this.#changed) {
      this.#changed.delete(id);
      yield id;
      yield* this.#due.take(this.#now());
    }
  }

  /** Lets other work run, such as notifications that have become due. */
  async #giveWay(slice: Slice): Promise<void> {
    this.#setTimer();
    await slice.giveWay();
  }

  /** Plans an incident. A failure is retried. It delays neither other incidents nor alerts. */
  #plan(incident: SharedIncident): void {
    try {
      this.#planAll(incident);
    } catch (err) {
      this.#parts.log.error(
        { err, incident: incident.number },
        'notifications: the notifications of an incident cannot be planned; trying again',
      );
      this.#due.set(incident.id, this.#now() + retryMs);
    }
  }

  /** Passes the incident to each destination with a notification that is ready. Schedules the next notification. */
  #planAll(incident: SharedIncident): void {
    const { id } = incident;
    const now = this.#now();
    const forgotten = Object.keys(incident.notices).filter((name) => !this.#hasDestination(name));
    const blocks = this.#planner.findBlocks(incident, now);
    const { silencedBy, hold } = blocks;
    let next = Math.min(
      this.#planStep(incident, now, silencedBy.length > 0 || hold !== undefined),
      hold?.lookAt ?? Number.POSITIVE_INFINITY,
    );
    if (hold) this.#held.add(id);
    else this.#held.delete(id);
    if (silencedBy.length > 0) this.#blocked.add(id);
    else this.#blocked.delete(id);
    for (const destination of this.#destinations ?? []) {
      const plan = this.#enqueue(incident, destination, now, blocks);
      if (plan === 'forget') forgotten.push(destination.name);
      else if (plan && plan.readyAt > now) next = Math.min(next, plan.readyAt);
    }
    this.#due.set(id, next);
    this.#storeForgotten(id, forgotten);
    if (!this.#parts.lease.isHeld()) return;
    for (const action of listBlockActions(incident, blocks)) this.#actions.addOnce(action);
  }

  /** Takes the next escalation step if it is due. Otherwise returns the time at which it is due. */
  #planStep(incident: SharedIncident, now: number, isBlocked: boolean): number {
    const { escalations, lease } = this.#parts;
    if (!escalations.isReady) return now + retryMs;
    // The policy is chosen when the incident opens, even while a silence or a cause blocks its steps.
    const step = isBlocked ? escalations.decide(incident, now) : escalations.next(incident, now);
    if (!step) return Number.POSITIVE_INFINITY;
    const { dueAt, ...event } = { dueAt: now, ...step };
    if (dueAt > now) return dueAt;
    if (lease.isHeld()) this.#actions.addOnce({ type: 'escalate', id: incident.id, by: ownSender, ...event });
    return Number.POSITIVE_INFINITY;
  }

  #planOne(incident: SharedIncident, destination: IncidentDestination): void {
    const { id } = incident;
    const now = this.#now();
    const plan = this.#enqueue(incident, destination, now);
    if (plan === 'forget') this.#storeForgotten(id, [destination.name]);
    else if (plan && plan.readyAt > now) this.#due.advance(id, plan.readyAt);
  }

  /**
   * Adds the incident to the queue of a destination if its notification is ready. Otherwise removes the incident from
   * the queue.
   */
  #enqueue(incident: SharedIncident, destination: IncidentDestination, now: number, blocks?: Blocks): NotificationPlan {
    const plan = this.#planner.plan(incident, destination, now, blocks);
    if (isReady(plan, now)) destination.put(incident, plan);
    else destination.withdraw(incident.id);
    if (isPlanned(plan) && plan.waitsFor === 'offDuty') this.#blocked.add(incident.id);
    if (isPlanned(plan) && plan.waitsFor === 'cause') this.#held.add(incident.id);
    return plan;
  }

  #storeForgotten(id: string, destinations: readonly string[]): void {
    if (destinations.length > 0 && this.#parts.lease.isHeld()) {
      this.#actions.addOnce({ type: 'forget', id, by: ownSender, destinations });
    }
  }

  #hasDestination(name: string): boolean {
    return this.#destinations?.some((one) => one.name === name) === true;
  }

  /**
   * Plans all incidents, and plans them once more if something changed in the meantime. Two rounds suffice, however many
   * changes there were.
   */
  async #replanAll(): Promise<void> {
    this.#nextChange.reset();
    this.#isOutdated = true;
    // A silence may end or a shift begin while all incidents are being planned.
    this.#setTimer();
    if (this.#isReplanning) return;
    this.#isReplanning = true;
    try {
      const slice = new Slice();
      while (this.#isOutdated && !this.#isClosed) {
        this.#isOutdated = false;
        for (const id of this.#incidents.listIds()) {
          const incident = this.#incidents.get(id);
          if (incident) this.#plan(incident);
          if (slice.isOver) await this.#giveWay(slice);
          if (this.#isClosed) return;
        }
        for (const one of this.#destinations ?? []) one.queue.advance();
        this.#setTimer();
      }
    } finally {
      this.#isReplanning = false;
    }
  }

  #checkClock(): void {
    const offset = this.#now() - performance.now();
    if (offset < this.#clockOffset - mostSetBackMs && this.#incidents.isLoaded) void this.#replanAll();
    this.#clockOffset = offset;
  }

  /** Sets the timer for the next due plan, silence or handover. */
  #setTimer(): void {
    if (this.#isClosed || !this.#incidents.isLoaded) return;
    const now = this.#now();
    const at = Math.min(this.#due.first ?? Number.POSITIVE_INFINITY, this.#nextChange.after(now));
    clearTimeout(this.#timer);
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#onTimer(), Math.max(0, Math.min(at - now, longestWaitMs)));
  }

  #onTimer(): void {
    void (this.#nextChange.isDue(this.#now()) ? this.#replanAll() : this.#planChanged());
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}

/** True if two states of an incident lead to the same plan: their version, addresses and escalation are equal. */
const isPlanOf = (known: SharedIncident, { version, addressed, escalation }: SharedIncident): boolean =>
  known.version === version && known.addressed === addressed && known.escalation === escalation;

/**
 * True if two states of an incident hold the notifications of the same other incidents. Ignores titles, because they
 * change often and held incidents are checked again anyway.
 */
const hasSameEffect = (known: SharedIncident, { state, level, labels }: SharedIncident): boolean =>
  (known.state === 'resolved') === (state === 'resolved') &&
  known.level === level &&
  isDeepStrictEqual(known.labels, labels);
