import { setImmediate } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { awaitWithin, createSerial } from '../../storage/scheduling.ts';
import type { IncidentDelivery, SharedIncident } from '../offers.ts';
import { isPromiseOver, noteFailure, toGivenUp } from './attempts.ts';
import type { PlannedNotice } from './plan.ts';
import type { KeptProgress, Progress } from './progress.ts';
import {
  createSchedule,
  type DeliveryOutcome,
  type FailedOutcome,
  type Notices,
  ReceiverState,
  type Schedule,
} from './receiver-state.ts';
import type { DestinationTarget } from './settings.ts';
import { createWaiting, type WaitingAlert, WaitingAlerts } from './waiting.ts';

/** The most incidents of one message. */
const mostGrouped = 500;

/** After an error of our own. */
const unexpectedWaitMs = 5000;

/** A message about more incidents is made between two steps of other work. */
const longMessage = 50;
const inTurn = createSerial();

/** How long a message waits at most for the note that it is sent, and others for the one of what became of it. */
const patienceMs = 2000;

/** How long requests may go on when the destination is closed. */
const closingMs = 2000;

/** The time is looked at so often while something is to be sent later: clocks are set. */
const longestWaitMs = 1000;

/** Something that happened to an incident, and is told now. */
export interface Happening extends PlannedNotice {
  incident: SharedIncident;
}

/** Sends messages to the receiver. */
interface MessageSender {
  /** Never rejects. */
  send(happenings: readonly Happening[]): Promise<DeliveryOutcome>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

interface IncidentDestinationParts {
  target: DestinationTarget;
  kept: KeptProgress;
  sender: MessageSender;
  /** Requests at a time. */
  concurrency: number;
  notices: Notices;
  clock: () => Date;
  log: FastifyBaseLogger;
  /** Called after each delivery. */
  onDelivered(destination: IncidentDestination): void;
}

/** What a destination asks of the notifier. */
export interface NoticeSource {
  /** Whether this instance is the one that sends. */
  maySend(): boolean;
  /** What is to be told of the incident now; undefined if that is nothing any more. */
  prepare(destination: IncidentDestination, id: string): Happening | undefined;
  /** Stores what became of a notification. Resolves once it is known; never rejects. */
  note(incident: string, delivery: IncidentDelivery): Promise<void>;
  /** Stores that the destination may have been told of the incident. Resolves once it is known; never rejects. */
  noteAttempt(incident: string, destination: string): Promise<void>;
  /** Asks for what is next to be told of the incident. */
  replan(destination: IncidentDestination, id: string): void;
}

/** A message that waits: the incidents that it is about, and the reason of its last failure. */
interface Bundle {
  waiting: WaitingAlert;
  ids: Set<string>;
  error: string | null;
}

/** What became of a message. */
type Settled = Pick<IncidentDelivery, 'isDelivered' | 'result'>;

type Since = Pick<WaitingAlert, 'receivedAt' | 'isCritical'>;

/** An incident of which a destination is to be told, as lists show it. */
export interface WaitingIncident {
  id: string;
  /** Unix milliseconds; undefined while it is being sent. */
  nextAttempt: number | undefined;
  attempts: number;
  error: string | null;
}

/**
 * Tells one receiver of incidents. What is due at about the same time is one message. A message that fails waits, while others
 * are sent; if it may be the fault of one of its incidents, it is cut in halves.
 */
export class IncidentDestination {
  readonly notify = 'incidents';
  readonly name: string;
  readonly target: DestinationTarget;
  readonly progress: Progress;
  readonly receiver: ReceiverState;
  /** How many notifications were sent, or given up, by what was told. */
  readonly counts = new Map<string, number>();
  readonly #parts: IncidentDestinationParts;
  readonly #schedule: Schedule;
  readonly #concurrency: number;
  readonly #waiting = new WaitingAlerts();
  readonly #bundles = new Map<number, Bundle>();
  readonly #bundleOf = new Map<string, Bundle>();
  /** Incidents of which it may be told, each with the time when it must be; Unix milliseconds. */
  readonly #fresh = new Map<string, { dueAt: number; since: number; isCritical: boolean }>();
  /** Incidents of which it certainly does not know by the last attempt. */
  readonly #failed = new Set<string>();
  /** The first time of these. */
  #firstDueAt = Number.POSITIVE_INFINITY;
  #source: NoticeSource | undefined;
  #lastBundle = 0;
  #running = 0;
  #noticing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isAdvancing = false;
  #isClosed = false;
  #onQuiet: () => void = () => undefined;

  constructor(parts: IncidentDestinationParts) {
    const { target, kept, concurrency, clock, log } = parts;
    const { name } = target.settings;
    this.#parts = parts;
    this.name = name;
    this.target = target;
    this.progress = kept.progress;
    this.#schedule = createSchedule(target.settings);
    this.receiver = new ReceiverState({ name, schedule: this.#schedule, progress: kept.progress, clock, log });
    this.#concurrency = concurrency;
  }

  /** When the oldest of what waits happened, or could be sent at the latest. */
  get waitingSince(): number | undefined {
    let oldest: number | undefined;
    for (const { waiting } of this.#bundles.values())
      oldest = Math.min(oldest ?? waiting.receivedAt, waiting.receivedAt);
    if (this.#fresh.size > 0 && this.#firstDueAt <= this.#now())
      oldest = Math.min(oldest ?? this.#firstDueAt, this.#firstDueAt);
    return oldest;
  }

  /** Of how many incidents it is to be told now. */
  get lag(): number {
    return this.#bundleOf.size + this.#fresh.size;
  }

  /** Whether a restart would forget that it is failing. */
  get isUnwritten(): boolean {
    return this.#parts.kept.isUnwritten();
  }

  /** When the next attempt is due, if the destination waits for that. */
  get nextAt(): number | undefined {
    if (this.#running > 0 || this.#bundles.size === 0) return undefined;
    const wait = this.#waitMs();
    return wait === undefined || wait <= 0 ? undefined : this.#now() + wait;
  }

  get state(): 'idle' | 'delivering' | 'waiting' | 'failing' {
    if (this.receiver.failing) return 'failing';
    if (this.nextAt !== undefined) return 'waiting';
    return this.#bundles.size > 0 ? 'delivering' : 'idle';
  }

  /** What is known of a notification that has failed or is being sent; undefined if there is none of the incident. */
  describe(id: string): WaitingIncident | undefined {
    const bundle = this.#bundleOf.get(id);
    if (!bundle) return undefined;
    const { waiting, error } = bundle;
    const wait = Math.max(this.receiver.waitMs, waiting.state === 'later' ? waiting.dueAt - performance.now() : 0, 0);
    const nextAttempt = waiting.state === 'running' ? undefined : this.#now() + wait;
    return { id, nextAttempt, attempts: waiting.attempts, error };
  }

  /** The ids of incidents of which it is to be told now; of some of them, if there are many. */
  listIds(most: number): string[] {
    const ids: string[] = [];
    for (const all of [this.#bundleOf, this.#fresh]) {
      for (const id of all.keys()) {
        if (ids.length === most) return ids;
        ids.push(id);
      }
    }
    return ids;
  }

  isWaiting(id: string): boolean {
    return this.#bundleOf.has(id) || this.#fresh.has(id);
  }

  /** Tells of an incident once, alone and now, whatever else waits; undefined if that is happening already. */
  async retry(id: string): Promise<DeliveryOutcome | undefined> {
    const source = this.#source;
    const before = this.#bundleOf.get(id);
    if (!source?.maySend() || before?.waiting.state === 'running') return undefined;
    const since = this.#fresh.get(id) ?? { since: before?.waiting.receivedAt ?? this.#now(), isCritical: false };
    this.#fresh.delete(id);
    if (before) this.#release(before, id);
    const bundle = this.#addBundle(new Set([id]), { receivedAt: since.since, isCritical: since.isCritical }, before);
    this.#waiting.begin(bundle.waiting);
    this.#running += 1;
    const happenings = this.#prepare(bundle, source);
    const outcome = happenings.length > 0 ? await this.#send(bundle, happenings, source) : undefined;
    this.#running -= 1;
    this.advance();
    return outcome;
  }

  /** Whether the receiver certainly has not got the last attempt to tell of the incident. */
  hasFailed(id: string): boolean {
    return this.#failed.has(id);
  }

  /** Begins to send. */
  start(source: NoticeSource): void {
    this.#source = source;
    this.advance();
  }

  /** There is something to tell of an incident: at once, or by a time, with others. */
  put(incident: SharedIncident, { dueAt, happenedAt }: PlannedNotice): void {
    if (this.#bundleOf.has(incident.id) || this.#isClosed) return;
    const isCritical = incident.level === 'CRITICAL' && incident.state !== 'resolved';
    this.#fresh.set(incident.id, { dueAt, since: happenedAt, isCritical });
    this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    this.#advanceSoon();
  }

  /** There is nothing to tell of it any more. What is being sent is not called back. */
  withdraw(id: string): void {
    this.#fresh.delete(id);
    const bundle = this.#bundleOf.get(id);
    if (bundle && bundle.waiting.state !== 'running') this.#release(bundle, id);
  }

  /** Tries everything that waits again, now or when the receiver has asked for it. */
  retryWaiting({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    this.receiver.resetWaits({ ignoresRetryAfter });
    this.#waiting.hurry({ all: true });
    this.advance();
  }

  /** The host of the receiver is known to be reachable. */
  hurry(): void {
    if (!this.receiver.hurry()) return;
    this.#waiting.hurry({ all: false });
    this.advance();
  }

  /** Lets requests end for two seconds; what has no response by then is sent again after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const { sender, kept } = this.#parts;
    const timer = setTimeout(() => void sender.close(), closingMs);
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.advance();
    // What became of a message may have to wait for the disk, or the database.
    await awaitWithin(2 * closingMs, quiet);
    await this.#noticing;
    clearTimeout(timer);
    await sender.close();
    await kept.close();
  }

  /** Begins what can be done now, and waits for what cannot. Called whenever something has changed. */
  advance(): void {
    if (this.#isClosed) {
      if (this.#running === 0) this.#onQuiet();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#source?.maySend()) return;
    this.#group();
    while (!this.#isBusy && this.receiver.waitMs === 0) {
      const waiting = this.#waiting.take(performance.now());
      if (!waiting) break;
      const bundle = this.#bundles.get(waiting.seq);
      if (bundle) void this.#attempt(bundle, this.#source);
    }
    const untilDue = this.#fresh.size === 0 ? undefined : Math.max(0, this.#firstDueAt - this.#now());
    const waits = [this.#waitMs(), untilDue].filter((ms) => ms !== undefined);
    if (waits.length > 0) this.#timer = setTimeout(() => this.advance(), Math.min(...waits, longestWaitMs));
  }

  /** Once, for all that comes in one step. */
  #advanceSoon(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    void setImmediate().then(() => {
      this.#isAdvancing = false;
      this.advance();
    });
  }

  /** Makes messages of what is due; what was to be told a little later is told with it. */
  #group(): void {
    const now = this.#now();
    if (this.#fresh.size === 0 || this.#firstDueAt > now) return;
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#fresh.values()) this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    if (this.#firstDueAt > now) return;
    const size = this.target.rules.groupMs === 0 ? 1 : mostGrouped;
    const all = [...this.#fresh];
    this.#fresh.clear();
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    for (let at = 0; at < all.length; at += size) {
      const some = all.slice(at, at + size);
      const since = Math.min(...some.map(([, one]) => one.since));
      const isCritical = some.some(([, one]) => one.isCritical);
      this.#addBundle(new Set(some.map(([id]) => id)), { receivedAt: since, isCritical });
    }
  }

  /** `failed`: the message that it was a part of. */
  #addBundle(ids: Set<string>, { receivedAt, isCritical }: Since, failed?: Bundle): Bundle {
    this.#lastBundle += 1;
    const seq = this.#lastBundle;
    const waiting = createWaiting({ seq, id: '', receivedAt, isCritical, key: undefined }, failed?.waiting);
    const bundle = { waiting, ids, error: failed?.error ?? null };
    this.#bundles.set(seq, bundle);
    for (const id of ids) this.#bundleOf.set(id, bundle);
    this.#waiting.add(bundle.waiting);
    return bundle;
  }

  /** The incident no longer waits in a message. */
  #release(bundle: Bundle, id: string): void {
    bundle.ids.delete(id);
    if (this.#bundleOf.get(id) === bundle) this.#bundleOf.delete(id);
    if (bundle.ids.size === 0) this.#drop(bundle);
  }

  #drop({ waiting, ids }: Bundle): void {
    this.#waiting.remove(waiting);
    this.#bundles.delete(waiting.seq);
    for (const id of ids) this.#bundleOf.delete(id);
  }

  /** There is no such incident any more, or it is settled. */
  forget(id: string): void {
    this.#failed.delete(id);
    this.withdraw(id);
  }

  /** Whether no further request may run: one at a time finds out when a trouble ends. */
  get #isBusy(): boolean {
    return this.#running >= (this.receiver.troubleSince === undefined ? this.#concurrency : 1);
  }

  /** Milliseconds until something is to be done; undefined if that is not known. */
  #waitMs(): number | undefined {
    if (this.#isBusy) return undefined;
    const { waitMs } = this.receiver;
    if (this.#waiting.hasReady) return waitMs;
    const { nextDueAt } = this.#waiting;
    return nextDueAt === undefined ? undefined : Math.max(waitMs, nextDueAt - performance.now());
  }

  /** Never rejects. */
  async #attempt(bundle: Bundle, source: NoticeSource): Promise<void> {
    this.#running += 1;
    // Many destinations may have long messages at the same time.
    if (bundle.ids.size > longMessage) await inTurn(() => setImmediate());
    try {
      const happenings = this.#prepare(bundle, source);
      if (happenings.length > 0) await this.#send(bundle, happenings, source);
    } catch (err) {
      this.#parts.log.error({ err, destination: this.name }, 'outbox: unexpected error');
      bundle.waiting.dueAt = performance.now() + unexpectedWaitMs;
      this.#waiting.release(bundle.waiting, performance.now());
    }
    this.#running -= 1;
    this.advance();
  }

  /** What the message says now. */
  #prepare(bundle: Bundle, source: NoticeSource): Happening[] {
    const happenings: Happening[] = [];
    for (const id of [...bundle.ids]) {
      const happening = source.prepare(this, id);
      if (happening) happenings.push(happening);
      else {
        this.#release(bundle, id);
        source.replan(this, id);
      }
    }
    return happenings;
  }

  async #send(bundle: Bundle, happenings: readonly Happening[], source: NoticeSource): Promise<DeliveryOutcome> {
    const { failures: failuresBefore, troubleSince } = this.receiver;
    const { waiting } = bundle;
    await this.#noteAttempts(happenings, source);
    const outcome = await this.#parts.sender.send(happenings);
    // Where the receiver had the request, it may know what it says.
    const isUnknown = outcome.kind === 'rejected' || (outcome.kind === 'failed' && !outcome.mayBeAlert);
    for (const { incident } of happenings) {
      if (isUnknown) this.#failed.add(incident.id);
      else this.#failed.delete(incident.id);
    }
    if (this.#isClosed && outcome.kind !== 'delivered') return outcome;
    // It was rejected before, and others are accepted.
    const isOwn = outcome.kind === 'rejected' && waiting.rejections > 0 && troubleSince === undefined;
    const hasRecovered = this.receiver.note(outcome, { failuresBefore, isOwn });
    if (outcome.kind === 'delivered') {
      await this.#settle(bundle, happenings, source, { isDelivered: true, result: 'delivered' });
    } else if (outcome.kind === 'refused') {
      if (happenings.length > 1) this.#cut(bundle);
      else await this.#settle(bundle, happenings, source, { isDelivered: false, result: outcome.reason });
    } else {
      await this.#noteFailure(bundle, happenings, source, outcome);
    }
    if (hasRecovered) this.#waiting.hurry({ all: false });
    if (outcome.kind === 'delivered') this.#parts.onDelivered(this);
    this.#updateNotice();
    this.#parts.kept.save();
    return outcome;
  }

  /** Those that are told of an incident for the first time must hear of its end, also after kill -9 in between. */
  async #noteAttempts(happenings: readonly Happening[], source: NoticeSource): Promise<void> {
    const first = happenings.filter(({ incident }) => !incident.notices[this.name]);
    if (first.length === 0) return;
    const noted = first.map(({ incident }) => source.noteAttempt(incident.id, this.name));
    // A disk that is full must not keep anything back.
    await awaitWithin(patienceMs, Promise.all(noted));
  }

  async #noteFailure(
    bundle: Bundle,
    happenings: readonly Happening[],
    source: NoticeSource,
    outcome: FailedOutcome,
  ): Promise<void> {
    const { waiting } = bundle;
    const { reason } = outcome;
    const mayBeIncident = outcome.kind === 'rejected' || outcome.mayBeAlert;
    bundle.error = reason;
    if (happenings.length > 1 && mayBeIncident && !this.#isOver(waiting)) {
      waiting.failingSince ??= this.#now();
      waiting.suspicion += 1;
      if (outcome.kind === 'rejected') waiting.rejections += 1;
      this.#cut(bundle);
    } else {
      const { isUsedUp } = noteFailure(waiting, outcome, this.#schedule, this.#now());
      if (isUsedUp) {
        const result = `${reason}; ${waiting.attempts} attempts`;
        await this.#settle(bundle, happenings, source, { isDelivered: false, result });
      } else this.#waiting.release(waiting, performance.now());
    }
    await this.#giveUp(reason, source);
  }

  #isOver(waiting: WaitingAlert): boolean {
    return isPromiseOver(waiting, this.#schedule, this.#now(), this.receiver.troubleSince);
  }

  /** Gives up messages for which the promise has ended. */
  async #giveUp(reason: string, source: NoticeSource): Promise<void> {
    for (const bundle of [...this.#bundles.values()]) {
      const { waiting } = bundle;
      if (waiting.state === 'running' || !this.#isOver(waiting)) continue;
      this.#waiting.begin(waiting);
      const happenings = this.#prepare(bundle, source);
      const result = toGivenUp(bundle.error ?? reason, this.#schedule);
      await this.#settle(bundle, happenings, source, { isDelivered: false, result });
    }
  }

  /** One of the incidents may be the reason. Another one, alone and first, shows whether the receiver accepts others. */
  #cut(bundle: Bundle): void {
    const ids = [...bundle.ids];
    const { waiting } = bundle;
    this.#drop(bundle);
    const probe = ids.pop();
    const half = Math.ceil(ids.length / 2);
    const parts = [ids.slice(0, half), ids.slice(half)].filter((part) => part.length > 0);
    for (const part of parts) this.#addBundle(new Set(part), waiting, bundle);
    if (probe === undefined) return;
    const others = { ...bundle, waiting: { ...waiting, suspicion: 0, rejections: 0 } };
    this.#addBundle(new Set([probe]), waiting, others);
  }

  /** Nothing else is told of these incidents before it is stored what became of it; others wait for that only for a while. */
  async #settle(
    bundle: Bundle,
    happenings: readonly Happening[],
    source: NoticeSource,
    result: Settled,
  ): Promise<void> {
    await awaitWithin(patienceMs, this.#storeResult(bundle, happenings, source, result));
  }

  async #storeResult(
    bundle: Bundle,
    happenings: readonly Happening[],
    source: NoticeSource,
    result: Settled,
  ): Promise<void> {
    await Promise.all(
      happenings.map(async ({ what, isEscalation, incident }) => {
        const { id, level, openings: opening } = incident;
        const name = `${what} ${result.isDelivered ? 'delivered' : 'refused'}`;
        this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
        await source.note(id, {
          ...{ destination: this.name, what, level, opening, ...result },
          ...(isEscalation && { isEscalation }),
        });
      }),
    );
    this.#drop(bundle);
    for (const { incident } of happenings) source.replan(this, incident.id);
  }

  /** Alerts the other destinations once in a failing spell, and when it is over. */
  #updateNotice(): void {
    const { notices, kept } = this.#parts;
    if (!notices.isOutdated(this.progress.receiver)) return;
    this.#noticing = this.#noticing.then(() => notices.update(this.name, this.progress)).then(kept.save);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}
