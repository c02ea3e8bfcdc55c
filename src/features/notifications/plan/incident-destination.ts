import { setImmediate } from 'node:timers/promises';
import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentDelivery } from '../../../kit/incident-source.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { IncidentMessage, IncidentUpdate } from '../message/message.ts';
import { messageSlots, waitForMessageTurn } from '../message/message-turn.ts';
import { createTextAlert } from '../message/text-alert.ts';
import { Destination, type DestinationParts } from '../queue/destination.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import type { Settled } from '../queue/queue.ts';
import { Collector } from './collector.ts';
import {
  IncidentMessages,
  type Message,
  type MessageContent,
  type SentText,
  type TextEnd,
} from './incident-messages.ts';
import type { PlannedNotification, PlannedUpdate } from './plan.ts';

/** Maximum milliseconds to wait for the database or disk, both before and after a message. */
const patienceMs = 2000;

/** Maximum milliseconds between clock checks while incidents are being collected. The clock can be set at any time. */
const longestWaitMs = 1000;

/** Source of updates for a destination. It also stores their results. */
interface UpdateSource {
  /** True if this instance currently sends notifications. */
  maySend(): boolean;
  /** Returns the current update about the incident for a message. Undefined if no notification is due. */
  prepare(destination: IncidentDestination, id: string): PlannedUpdate | undefined;
  /** Stores the result of a notification. Resolves once it is stored. Never rejects. */
  storeDelivery(id: string, delivery: IncidentDelivery): Promise<void>;
  /** Records the attempt to send a first message about the incident. Resolves once it is recorded. Never rejects. */
  storeAttempt(id: string, destination: string): Promise<void>;
  /** Plans the next notification of an incident to one destination. */
  replan(destination: IncidentDestination, id: string): void;
}

interface IncidentDestinationParts extends DestinationParts {
  notifier: UpdateSource;
  writeMessage(updates: readonly IncidentUpdate[]): Promise<IncidentMessage>;
}

/** Incident in a message that is waiting or being sent. */
interface WaitingIncident {
  /** Unix milliseconds. Undefined while the message is being sent. */
  nextAttempt: number | undefined;
  attempts: number;
  error: string | null;
}

/**
 * Destination that gets incidents. An incident is first collected together with others, and then belongs to one message
 * at a time. A message reports the state at the time of sending.
 */
export class IncidentDestination extends Destination<MessageContent> {
  readonly notify = 'incidents';
  /** Numbers of notifications that were delivered or given up, by event and result. */
  readonly counts = new Map<string, number>();
  readonly #parts: IncidentDestinationParts;
  readonly #collector: Collector;
  readonly #messages: IncidentMessages;
  /** Incidents whose last message definitely did not reach the receiver. */
  readonly #failed = new Set<string>();
  #isAdvancing = false;

  constructor(parts: IncidentDestinationParts) {
    super(parts);
    this.#parts = parts;
    this.#collector = new Collector(parts.definition.rules.groupMs);
    this.#messages = new IncidentMessages(this.queue.waiting);
  }

  /** Time of the oldest waiting update, in Unix milliseconds. */
  get waitingSince(): number | undefined {
    const times = [this.queue.waiting.oldest, this.#collector.waitingSince(this.now())].filter(
      (at) => at !== undefined,
    );
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Number of incidents with a due notification. */
  get lag(): number {
    return this.#messages.size + this.#collector.size;
  }

  protected get isDelivering(): boolean {
    return this.queue.waiting.size > 0;
  }

  /** Returns the attempts to send the message about the incident. Undefined if the incident is not in a message. */
  describe(id: string): WaitingIncident | undefined {
    const message = this.#messages.find(id);
    if (!message) return undefined;
    const { attempts, error } = message;
    return { nextAttempt: this.queue.nextAttemptOf(message), attempts, error };
  }

  /** Returns up to `most` ids of incidents with a due notification. */
  listIds(most: number): string[] {
    const ids: string[] = [];
    for (const all of [this.#messages.ids(), this.#collector.ids()]) {
      for (const id of all) {
        if (ids.length >= most) return ids;
        ids.push(id);
      }
    }
    return ids;
  }

  isWaiting(id: string): boolean {
    return this.#messages.find(id) !== undefined || this.#collector.has(id);
  }

  /**
   * Sends a message about one incident now, ahead of all others. Resolves to undefined if the message is already being
   * sent.
   */
  async retry(id: string): Promise<DeliveryOutcome | undefined> {
    const before = this.#messages.find(id);
    if (!this.#parts.notifier.maySend() || before?.state === 'running') return undefined;
    const since = before?.receivedAt ?? this.now();
    const group = this.#collector.remove(id) ?? { ids: [id], since, isCritical: false };
    if (before) this.#messages.release(before, id);
    return this.queue.sendNow(this.#messages.add(group, before));
  }

  /** True if the last message about the incident definitely did not reach the receiver. */
  hasFailed(id: string): boolean {
    return this.#failed.has(id);
  }

  /** Collects an incident for the next message, unless the incident is already in a message. */
  put(incident: SharedIncident, plan: PlannedNotification): void {
    if (this.queue.isClosed || this.#messages.find(incident.id)) return;
    if (this.#collector.put(incident, plan)) this.#advanceSoon();
  }

  /** Sends a message with the same retries as other messages. Resolves once the attempts have ended. */
  sendText(text: string, isNeeded: () => boolean): Promise<TextEnd> {
    return new Promise((resolve) => {
      if (this.queue.isClosed) return resolve('gone');
      const content = createTextAlert(new Date(this.now()), text);
      this.#messages.addText({ content, isNeeded, onEnd: resolve }, this.now());
      this.queue.advance();
    });
  }

  /** Removes an incident without a due notification, unless its message is being sent. */
  withdraw(id: string): void {
    this.#collector.remove(id);
    const message = this.#messages.find(id);
    if (message && message.state !== 'running') this.#messages.release(message, id);
  }

  /** Removes an incident that has been settled or no longer exists. */
  forget(id: string): void {
    this.#failed.delete(id);
    this.withdraw(id);
  }

  fill(): boolean {
    if (!this.#parts.notifier.maySend()) return false;
    const isIdle = !this.queue.waiting.hasReady;
    for (const group of this.#collector.take(this.now(), { isIdle })) this.#messages.add(group);
    return true;
  }

  override untilMore(): number {
    const wait = this.#collector.untilDue(this.now());
    return Number.isFinite(wait) ? Math.min(wait, longestWaitMs) : wait;
  }

  /** Sends a message about those incidents that still have a notification due. */
  send(message: Message): Promise<DeliveryOutcome | undefined> {
    const { transport, writeMessage } = this.#parts;
    return messageSlots.run(async () => {
      await waitForMessageTurn();
      const { text } = message.content;
      if (text) return this.#sendText(text);
      const updates = this.#prepare(message);
      if (updates.length === 0) return undefined;
      await this.#storeAttempts(updates);
      const outcome = await this.request(async () => (await transport.send(await writeMessage(updates))).outcome);
      this.#noteFailed(updates, outcome);
      message.content.sent = updates;
      return outcome;
    });
  }

  override split(message: Message): boolean {
    return this.#messages.split(message);
  }

  /** Stores the results. The incidents stay in the message until then. Other messages wait for at most two seconds. */
  async settle(message: Message, settled: Settled): Promise<void> {
    const { ids, sent, text } = message.content;
    if (text) {
      this.#messages.remove(message);
      return text.onEnd(settled.isDelivered ? 'delivered' : 'refused');
    }
    // Only the content of the last attempt counts. Later changes are planned next.
    const updates = sent?.filter(({ incident }) => ids.has(incident.id)) ?? this.#prepare(message);
    const stored = updates.map((update) => this.#storeDelivery(update, settled));
    const done = Promise.all(stored).then(() => {
      this.#messages.remove(message);
      for (const { incident } of updates) this.#parts.notifier.replan(this, incident.id);
    });
    await awaitWithin(patienceMs, done);
  }

  async #sendText({ content, isNeeded, onEnd }: SentText): Promise<DeliveryOutcome | undefined> {
    if (!isNeeded()) {
      onEnd('gone');
      return undefined;
    }
    return this.request(async () => (await this.#parts.transport.send(content)).outcome);
  }

  override async close(): Promise<void> {
    await super.close();
    for (const { content } of this.queue.waiting.list()) content.text?.onEnd('gone');
  }

  /** Advances the queue once for all incidents that arrive in the same event loop turn. */
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

  /** Returns the updates about the incidents in the message. Removes incidents without a due notification. */
  #prepare(message: Message): PlannedUpdate[] {
    const { notifier } = this.#parts;
    const updates: PlannedUpdate[] = [];
    for (const id of [...message.content.ids]) {
      const update = notifier.prepare(this, id);
      if (update) updates.push(update);
      else {
        this.#messages.release(message, id);
        notifier.replan(this, id);
      }
    }
    return updates;
  }

  /**
   * Records first notifications before they are sent. The destination then gets the resolution even after a kill -9.
   */
  async #storeAttempts(updates: readonly PlannedUpdate[]): Promise<void> {
    const first = updates.filter(({ incident }) => !incident.notices[this.name]);
    if (first.length === 0) return;
    const stored = first.map(({ incident }) => this.#parts.notifier.storeAttempt(incident.id, this.name));
    // A full disk must not hold back notifications.
    await awaitWithin(patienceMs, Promise.all(stored));
  }

  #noteFailed(updates: readonly PlannedUpdate[], outcome: DeliveryOutcome): void {
    // After any other failure, the receiver may have read the message.
    const hasFailed = outcome.kind === 'rejected' || (outcome.kind === 'failed' && !outcome.mayBeMessage);
    for (const { incident } of updates) {
      if (hasFailed) this.#failed.add(incident.id);
      else this.#failed.delete(incident.id);
    }
  }

  #storeDelivery(
    { what, isEscalation, incident, address }: PlannedUpdate,
    settled: Settled,
  ): Promise<void> | undefined {
    const { id, level, openings: opening } = incident;
    const name = `${what} ${settled.isDelivered ? 'delivered' : 'refused'}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const delivery = { destination: this.name, what, level, opening, times: address?.times, ...settled };
    return this.#parts.notifier.storeDelivery(id, { ...delivery, ...(isEscalation && { isEscalation }) });
  }
}
