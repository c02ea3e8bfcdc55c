import type { DeliveredAlert } from '../message/alert.ts';
import type { Tries } from '../queue/retries.ts';
import { createQueued, type Queued, type WaitingMessages } from '../queue/waiting.ts';
import type { IncidentGroup } from './collector.ts';
import type { PlannedUpdate } from './plan.ts';

/** Message that is not about an incident. */
export interface SentText {
  /** Content of the message, identical in every attempt. */
  content: DeliveredAlert;
  /** Returns false once the message is outdated or another instance has sent it. */
  isNeeded(): boolean;
  /** Receives the result. `gone`: the message is no longer needed, or the destination was closed. */
  onEnd(end: TextEnd): void;
}

/** Result of the attempts to send a message. */
export type TextEnd = 'delivered' | 'refused' | 'gone';

/** Incidents in a message, or a fixed text. A message about incidents is not written until it is sent. */
export interface MessageContent {
  ids: Set<string>;
  text?: SentText;
  /** Updates included in the last attempt to send the message. */
  sent?: readonly PlannedUpdate[];
}

export type Message = Queued<MessageContent>;

/** Waiting messages of a destination, by incident. Each incident is in at most one message at a time. */
export class IncidentMessages {
  readonly #waiting: WaitingMessages<MessageContent>;
  readonly #byIncident = new Map<string, Message>();
  #lastSeq = 0;

  constructor(waiting: WaitingMessages<MessageContent>) {
    this.#waiting = waiting;
  }

  /** Number of incidents in messages. */
  get size(): number {
    return this.#byIncident.size;
  }

  find(id: string): Message | undefined {
    return this.#byIncident.get(id);
  }

  ids(): IterableIterator<string> {
    return this.#byIncident.keys();
  }

  /** Creates a message about a group of incidents. `tried` contains the attempts made with their previous message. */
  add({ ids, since, isCritical }: IncidentGroup, tried?: Tries): Message {
    this.#lastSeq += 1;
    const message = createQueued(
      { seq: this.#lastSeq, content: { ids: new Set(ids) }, receivedAt: since, isCritical, key: undefined },
      tried,
    );
    for (const id of ids) this.#byIncident.set(id, message);
    this.#waiting.add(message);
    return message;
  }

  /** Creates a message with a fixed text. */
  addText(text: SentText, receivedAt: number): void {
    this.#lastSeq += 1;
    const content = { ids: new Set<string>(), text };
    this.#waiting.add(createQueued({ seq: this.#lastSeq, content, receivedAt, isCritical: false, key: undefined }));
  }

  /** Removes an incident from a message, and also the message if no incident remains. */
  release(message: Message, id: string): void {
    message.content.ids.delete(id);
    if (this.#byIncident.get(id) === message) this.#byIncident.delete(id);
    if (message.content.ids.size === 0) this.remove(message);
  }

  remove(message: Message): void {
    this.#waiting.remove(message);
    for (const id of message.content.ids) this.#byIncident.delete(id);
  }

  /**
   * Splits a message into two halves and a message about its last incident. The message about the last incident is sent
   * first, to show whether the receiver accepts other messages. Returns false for a message about a single incident.
   */
  split(message: Message): boolean {
    const ids = [...message.content.ids];
    const last = ids.pop();
    if (last === undefined || ids.length === 0) return false;
    this.remove(message);
    const half = Math.ceil(ids.length / 2);
    const { receivedAt: since, isCritical } = message;
    for (const part of [ids.slice(0, half), ids.slice(half)]) {
      if (part.length > 0) this.add({ ids: part, since, isCritical }, message);
    }
    this.add({ ids: [last], since, isCritical }, { ...message, possibleFaults: 0, rejections: 0 });
    return true;
  }
}
