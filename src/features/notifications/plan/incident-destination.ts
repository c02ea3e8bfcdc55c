import { setImmediate } from 'node:timers/promises';
import type { IncidentDelivery, SharedIncident } from '../../../kit/offers.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import { messageSlots, waitForMessageTurn } from '../message/message-turn.ts';
import { BaseDestination, type BaseParts, destinationClosingMs, unexpectedWaitMs } from '../queue/destination.ts';
import type { DeliveryOutcome, FailedOutcome } from '../queue/receiver.ts';
import { isPromiseOver, noteFailure, toGivenUp } from '../queue/retries.ts';
import type { QueuedAlert } from '../queue/waiting.ts';
import { type Bundle, NoticeQueue } from './collector.ts';
import type { PlannedNotice } from './plan.ts';

/** How long a message waits at most for the note that it is sent, and others for the one of what became of it. */
const patienceMs = 2000;

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

interface IncidentDestinationParts extends BaseParts {
  sender: MessageSender;
  /** Requests at a time. */
  concurrency: number;
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

/** What became of a message. */
type Settled = Pick<IncidentDelivery, 'isDelivered' | 'result'>;

/** An incident of which a destination is to be told, as lists show it. */
interface WaitingIncident {
  id: string;
  /** Unix milliseconds; undefined while it is being sent. */
  nextAttempt: number | undefined;
  attempts: number;
  error: string | null;
}

/** Tells one receiver of incidents. A message that fails, which may be the fault of one of its incidents, is cut in halves. */
export class IncidentDestination extends BaseDestination {
  readonly notify = 'incidents';
  /** How many notifications were sent, or given up, by what was told. */
  readonly counts = new Map<string, number>();
  readonly #parts: IncidentDestinationParts;
  readonly #concurrency: number;
  readonly #queue: NoticeQueue;
  /** Incidents of which it certainly does not know by the last attempt. */
  readonly #failed = new Set<string>();
  #source: NoticeSource | undefined;
  #isAdvancing = false;

  constructor(parts: IncidentDestinationParts) {
    const queue = new NoticeQueue(parts.target.rules.groupMs);
    super(parts, queue.waiting);
    this.#parts = parts;
    this.#concurrency = parts.concurrency;
    this.#queue = queue;
  }

  /** When the oldest of what waits happened, or could be sent at the latest. */
  get waitingSince(): number | undefined {
    return this.#queue.waitingSince(this.now());
  }

  /** Of how many incidents it is to be told now. */
  get lag(): number {
    return this.#queue.size;
  }

  protected get isDelivering(): boolean {
    return this.waiting.size > 0;
  }

  /** What is known of a notification that has failed or is being sent; undefined if there is none of the incident. */
  describe(id: string): WaitingIncident | undefined {
    const bundle = this.#queue.find(id);
    if (!bundle) return undefined;
    const { waiting, error } = bundle;
    return { id, nextAttempt: this.nextAttemptOf(waiting), attempts: waiting.attempts, error };
  }

  /** The ids of incidents of which it is to be told now; of some of them, if there are many. */
  listIds(most: number): string[] {
    return this.#queue.listIds(most);
  }

  isWaiting(id: string): boolean {
    return this.#queue.has(id);
  }

  /** Tells of an incident once, alone and now, whatever else waits; undefined if that is happening already. */
  async retry(id: string): Promise<DeliveryOutcome | undefined> {
    const source = this.#source;
    if (!source?.maySend() || this.#queue.find(id)?.waiting.state === 'running') return undefined;
    const bundle = this.#queue.takeAlone(id, this.now());
    return this.#run(bundle, source);
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
  put(incident: SharedIncident, plan: PlannedNotice): void {
    if (!this.isClosed && this.#queue.put(incident, plan)) this.#advanceSoon();
  }

  /** There is nothing to tell of it any more. What is being sent is not called back. */
  withdraw(id: string): void {
    this.#queue.withdraw(id);
  }

  /** What became of a message may have to wait for the disk, or the database. */
  protected override async untilQuiet(): Promise<void> {
    await awaitWithin(2 * destinationClosingMs, super.untilQuiet());
  }

  protected proceed(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.#source?.maySend()) return;
    this.#queue.group(this.now());
    while (!this.isBusy && this.receiver.waitMs === 0) {
      const bundle = this.#queue.take();
      if (!bundle) break;
      void this.#run(bundle, this.#source);
    }
    const waits = [this.waitMs(), this.#queue.untilFreshAreDue(this.now())].filter((ms) => ms !== undefined);
    if (waits.length > 0) this.timer = setTimeout(() => this.advance(), Math.min(...waits, longestWaitMs));
  }

  /** Once, for all that comes in one step. */
  #advanceSoon(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    void setImmediate()
      .then(waitForMessageTurn)
      .then(() => {
        this.#isAdvancing = false;
        this.advance();
      });
  }

  /** There is no such incident any more, or it is settled. */
  forget(id: string): void {
    this.#failed.delete(id);
    this.withdraw(id);
  }

  protected get isBusy(): boolean {
    return this.running >= (this.receiver.troubleSince === undefined ? this.#concurrency : 1);
  }

  /** Sends a message, if there still is something to tell; never rejects. */
  async #run(bundle: Bundle, source: NoticeSource): Promise<DeliveryOutcome | undefined> {
    this.running += 1;
    let outcome: DeliveryOutcome | undefined;
    try {
      await messageSlots.run(async () => {
        await waitForMessageTurn();
        const happenings = this.#prepare(bundle, source);
        if (happenings.length > 0) outcome = await this.#send(bundle, happenings, source);
      });
    } catch (err) {
      this.#parts.log.error({ err, destination: this.name }, 'outbox: unexpected error');
      bundle.waiting.dueAt = performance.now() + unexpectedWaitMs;
      this.#queue.wait(bundle);
    }
    this.running -= 1;
    this.advance();
    return outcome;
  }

  /** What the message says now. */
  #prepare(bundle: Bundle, source: NoticeSource): Happening[] {
    const happenings: Happening[] = [];
    for (const id of [...bundle.ids]) {
      const happening = source.prepare(this, id);
      if (happening) happenings.push(happening);
      else {
        this.#queue.release(bundle, id);
        source.replan(this, id);
      }
    }
    return happenings;
  }

  async #send(bundle: Bundle, happenings: readonly Happening[], source: NoticeSource): Promise<DeliveryOutcome> {
    const { failures: failuresBefore, troubleSince } = this.receiver;
    const { waiting } = bundle;
    await this.#noteAttempts(happenings, source);
    await waitForMessageTurn();
    const outcome = await this.#parts.sender.send(happenings);
    // Where the receiver had the request, it may know what it says.
    const isUnknown = outcome.kind === 'rejected' || (outcome.kind === 'failed' && !outcome.mayBeAlert);
    for (const { incident } of happenings) {
      if (isUnknown) this.#failed.add(incident.id);
      else this.#failed.delete(incident.id);
    }
    if (this.isClosed && outcome.kind !== 'delivered') return outcome;
    // It was rejected before, and others are accepted.
    const isOwn = outcome.kind === 'rejected' && waiting.rejections > 0 && troubleSince === undefined;
    const hasRecovered = this.receiver.note(outcome, { failuresBefore, isOwn });
    if (outcome.kind === 'delivered') {
      await this.#settle(bundle, happenings, source, { isDelivered: true, result: 'delivered' });
    } else if (outcome.kind === 'refused') {
      if (happenings.length > 1) this.#queue.cut(bundle);
      else await this.#settle(bundle, happenings, source, { isDelivered: false, result: outcome.reason });
    } else {
      await this.#noteFailure(bundle, happenings, source, outcome);
    }
    if (hasRecovered) this.waiting.hurry({ all: false });
    if (outcome.kind === 'delivered') this.#parts.onDelivered(this);
    this.updateNotice();
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
    // Parts of a message that the receiver may have would say it all again: only where it fails twice.
    const mayHaveIt = outcome.kind === 'failed' && outcome.isUnanswered === true && waiting.unanswered === 0;
    const mayBeIncident = !mayHaveIt && (outcome.kind === 'rejected' || outcome.mayBeAlert);
    bundle.error = reason;
    if (happenings.length > 1 && mayBeIncident && !this.#isOver(waiting)) {
      waiting.failingSince ??= this.now();
      waiting.suspicion += 1;
      if (outcome.kind === 'rejected') waiting.rejections += 1;
      this.#queue.cut(bundle);
    } else {
      const { isUsedUp } = noteFailure(waiting, outcome, this.schedule, this.now());
      if (isUsedUp) {
        const result = `${reason}; ${waiting.attempts} attempts`;
        await this.#settle(bundle, happenings, source, { isDelivered: false, result });
      } else this.#queue.wait(bundle);
    }
    await this.#giveUp(reason, source);
  }

  #isOver(waiting: QueuedAlert): boolean {
    return isPromiseOver(waiting, this.schedule, this.now(), this.receiver.troubleSince);
  }

  /** Gives up messages for which the promise has ended. */
  async #giveUp(reason: string, source: NoticeSource): Promise<void> {
    for (const bundle of this.#queue.list()) {
      const { waiting } = bundle;
      if (waiting.state === 'running' || !this.#isOver(waiting)) continue;
      this.#queue.begin(bundle);
      const happenings = this.#prepare(bundle, source);
      const result = toGivenUp(bundle.error ?? reason, this.schedule);
      await this.#settle(bundle, happenings, source, { isDelivered: false, result });
    }
  }

  /** Nothing else is told of these incidents before it is stored what became of it; others wait for that only for a while. */
  async #settle(
    bundle: Bundle,
    happenings: readonly Happening[],
    source: NoticeSource,
    result: Settled,
  ): Promise<void> {
    const noted = happenings.map(async ({ what, isEscalation, incident }) => {
      const { id, level, openings: opening } = incident;
      const name = `${what} ${result.isDelivered ? 'delivered' : 'refused'}`;
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
      await source.note(id, {
        destination: this.name,
        what,
        level,
        opening,
        ...result,
        ...(isEscalation && { isEscalation }),
      });
    });
    const settled = Promise.all(noted).then(() => {
      this.#queue.drop(bundle);
      for (const { incident } of happenings) source.replan(this, incident.id);
    });
    await awaitWithin(patienceMs, settled);
  }
}
