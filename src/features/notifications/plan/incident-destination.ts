import { setImmediate } from 'node:timers/promises';
import type { IncidentDelivery, SharedIncident } from '../../../kit/incident-source.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { MessageSender } from '../message/message-sender.ts';
import { messageSlots, waitForMessageTurn } from '../message/message-turn.ts';
import { Destination, type DestinationParts } from '../queue/destination.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import type { Settled } from '../queue/queue.ts';
import type { Tries } from '../queue/retries.ts';
import { createQueued, type Queued } from '../queue/waiting.ts';
import { Collector, type Group } from './collector.ts';
import type { PlannedNotice } from './plan.ts';

/** How long a message waits at most for the note that it is sent, and others for the one of what became of it. */
const patienceMs = 2000;

/** The time is looked at so often while something is to be sent later: clocks are set. */
const longestWaitMs = 1000;

/** Something that happened to an incident, and is told now. */
export interface Happening extends PlannedNotice {
  incident: SharedIncident;
}

interface IncidentDestinationParts extends DestinationParts {
  sender: MessageSender;
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

/** The incidents that a message is about. */
interface IncidentIds {
  ids: Set<string>;
  /** The content of the last attempt. */
  said?: readonly Happening[];
}

type Message = Queued<IncidentIds>;

/** An incident of which a destination is to be told, as lists show it. */
interface WaitingIncident {
  id: string;
  /** Unix milliseconds; undefined while it is being sent. */
  nextAttempt: number | undefined;
  attempts: number;
  error: string | null;
}

/**
 * Tells one receiver of incidents. An incident is in one message at a time, or collected for one; what a message says is
 * decided when it is sent.
 */
export class IncidentDestination extends Destination<IncidentIds> {
  readonly notify = 'incidents';
  /** How many notifications were sent, or given up, by what was told. */
  readonly counts = new Map<string, number>();
  readonly #parts: IncidentDestinationParts;
  readonly #collector: Collector;
  /** The message that each incident is in. */
  readonly #messages = new Map<string, Message>();
  #lastMessage = 0;
  /** Incidents of which it certainly does not know by the last attempt. */
  readonly #failed = new Set<string>();
  #source: NoticeSource | undefined;
  #isAdvancing = false;

  constructor(parts: IncidentDestinationParts) {
    super(parts);
    this.#parts = parts;
    this.#collector = new Collector(parts.target.rules.groupMs);
  }

  /** When the oldest of what waits happened, or could be sent at the latest. */
  get waitingSince(): number | undefined {
    const times = [this.queue.waiting.oldest, this.#collector.waitingSince(this.now())].filter(
      (at) => at !== undefined,
    );
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Of how many incidents it is to be told now. */
  get lag(): number {
    return this.#messages.size + this.#collector.size;
  }

  protected get isDelivering(): boolean {
    return this.queue.waiting.size > 0;
  }

  /** What is known of a notification that has failed or is being sent; undefined if there is none of the incident. */
  describe(id: string): WaitingIncident | undefined {
    const message = this.#messages.get(id);
    if (!message) return undefined;
    const { attempts, error } = message;
    return { id, nextAttempt: this.queue.nextAttemptOf(message), attempts, error };
  }

  /** The ids of incidents of which it is to be told now; of some of them, if there are many. */
  listIds(most: number): string[] {
    const ids: string[] = [];
    for (const all of [this.#messages.keys(), this.#collector.ids()]) {
      for (const id of all) {
        if (ids.length >= most) return ids;
        ids.push(id);
      }
    }
    return ids;
  }

  isWaiting(id: string): boolean {
    return this.#messages.has(id) || this.#collector.has(id);
  }

  /** Tells of an incident once, alone and now, whatever else waits; undefined if that is happening already. */
  async retry(id: string): Promise<DeliveryOutcome | undefined> {
    const before = this.#messages.get(id);
    if (!this.#source?.maySend() || before?.state === 'running') return undefined;
    const since = before?.receivedAt ?? this.now();
    const group = this.#collector.remove(id) ?? { ids: [id], since, isCritical: false };
    if (before) this.#release(before, id);
    return this.queue.sendNow(this.#add(group, before));
  }

  /** Whether the receiver certainly has not got the last attempt to tell of the incident. */
  hasFailed(id: string): boolean {
    return this.#failed.has(id);
  }

  /** Begins to send. */
  start(source: NoticeSource): void {
    this.#source = source;
    this.queue.advance();
  }

  /** There is something to tell of an incident: at once, or by a time, with others. */
  put(incident: SharedIncident, plan: PlannedNotice): void {
    if (this.queue.isClosed || this.#messages.has(incident.id)) return;
    if (this.#collector.put(incident, plan)) this.#advanceSoon();
  }

  /** There is nothing to tell of it any more. What is being sent is not called back. */
  withdraw(id: string): void {
    this.#collector.remove(id);
    const message = this.#messages.get(id);
    if (message && message.state !== 'running') this.#release(message, id);
  }

  /** There is no such incident any more, or it is settled. */
  forget(id: string): void {
    this.#failed.delete(id);
    this.withdraw(id);
  }

  fill(): boolean {
    if (!this.#source?.maySend()) return false;
    const isIdle = !this.queue.waiting.hasReady;
    for (const group of this.#collector.take(this.now(), { isIdle })) this.#add(group);
    return true;
  }

  override untilMore(): number {
    const wait = this.#collector.untilDue(this.now());
    return Number.isFinite(wait) ? Math.min(wait, longestWaitMs) : wait;
  }

  /** Sends a message, if there still is something to tell. */
  send(message: Message): Promise<DeliveryOutcome | undefined> {
    return messageSlots.run(async () => {
      await waitForMessageTurn();
      const happenings = this.#prepare(message);
      if (happenings.length === 0) return undefined;
      await this.#noteAttempts(happenings);
      await waitForMessageTurn();
      const outcome = await this.request(() => this.#parts.sender.send(happenings));
      this.#noteKnowledge(happenings, outcome);
      message.message.said = happenings;
      return outcome;
    });
  }

  /** Cuts it in halves. Another one of its incidents, alone and first, shows whether the receiver accepts others. */
  override split(message: Message): boolean {
    const ids = [...message.message.ids];
    const probe = ids.pop();
    if (probe === undefined || ids.length === 0) return false;
    this.#drop(message);
    const half = Math.ceil(ids.length / 2);
    const { receivedAt: since, isCritical } = message;
    for (const part of [ids.slice(0, half), ids.slice(half)]) {
      if (part.length > 0) this.#add({ ids: part, since, isCritical }, message);
    }
    this.#add({ ids: [probe], since, isCritical }, { ...message, suspicion: 0, rejections: 0 });
    return true;
  }

  /** Nothing else is told of these incidents before it is stored what became of it; others wait for that only for a while. */
  async settle(message: Message, settled: Settled): Promise<void> {
    const source = this.#source;
    const { ids, said } = message.message;
    // The content of the last attempt counts: what has happened since is planned next.
    const happenings = said?.filter(({ incident }) => ids.has(incident.id)) ?? this.#prepare(message);
    const noted = happenings.map((happening) => this.#note(happening, settled));
    const known = Promise.all(noted).then(() => {
      this.#drop(message);
      for (const { incident } of happenings) source?.replan(this, incident.id);
    });
    await awaitWithin(patienceMs, known);
  }

  /** Once, for all that comes in one step. */
  #advanceSoon(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    void setImmediate()
      .then(waitForMessageTurn)
      .then(() => {
        this.#isAdvancing = false;
        this.queue.advance();
      });
  }

  /** Makes a message about the incidents. `tried`: how one that they were in was tried. */
  #add({ ids, since, isCritical }: Group, tried?: Tries): Message {
    this.#lastMessage += 1;
    const message = createQueued(
      { seq: this.#lastMessage, message: { ids: new Set(ids) }, receivedAt: since, isCritical, key: undefined },
      tried,
    );
    for (const id of ids) this.#messages.set(id, message);
    this.queue.waiting.add(message);
    return message;
  }

  /** The incident no longer waits in the message. */
  #release(message: Message, id: string): void {
    message.message.ids.delete(id);
    if (this.#messages.get(id) === message) this.#messages.delete(id);
    if (message.message.ids.size === 0) this.#drop(message);
  }

  #drop(message: Message): void {
    this.queue.waiting.remove(message);
    for (const id of message.message.ids) this.#messages.delete(id);
  }

  /** What the message says now. */
  #prepare(message: Message): Happening[] {
    const happenings: Happening[] = [];
    for (const id of [...message.message.ids]) {
      const happening = this.#source?.prepare(this, id);
      if (happening) happenings.push(happening);
      else {
        this.#release(message, id);
        this.#source?.replan(this, id);
      }
    }
    return happenings;
  }

  /** Those that are told of an incident for the first time must hear of its end, also after kill -9 in between. */
  async #noteAttempts(happenings: readonly Happening[]): Promise<void> {
    const first = happenings.filter(({ incident }) => !incident.notices[this.name]);
    if (first.length === 0) return;
    const noted = first.map(({ incident }) => this.#source?.noteAttempt(incident.id, this.name));
    // A disk that is full must not keep anything back.
    await awaitWithin(patienceMs, Promise.all(noted));
  }

  /** Where the receiver had the request, it may know what it says. */
  #noteKnowledge(happenings: readonly Happening[], outcome: DeliveryOutcome): void {
    const hasFailed = outcome.kind === 'rejected' || (outcome.kind === 'failed' && !outcome.mayBeMessage);
    for (const { incident } of happenings) {
      if (hasFailed) this.#failed.add(incident.id);
      else this.#failed.delete(incident.id);
    }
  }

  #note({ what, isEscalation, incident }: Happening, settled: Settled): Promise<void> | undefined {
    const { id, level, openings: opening } = incident;
    const name = `${what} ${settled.isDelivered ? 'delivered' : 'refused'}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const delivery = { destination: this.name, what, level, opening, ...settled };
    return this.#source?.note(id, { ...delivery, ...(isEscalation && { isEscalation }) });
  }
}
