import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../../kit/alert-record.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import { StoreConflict, StoreUnavailable } from '../../../lib/expected-errors.ts';

/** Maximum number of attempts to record a message. */
const mostRecords = 5;

/** Message that stays due until a time in Unix milliseconds. */
interface DueMessage {
  /** Kind, name and member of the runtime setting that records the message. The kind has no routes and no limits. */
  kind: string;
  name: string;
  member: string;
  /** Value that the member gets once the message has been sent. */
  record: string;
  person: string;
  until: number;
  /** Writes the text. Resolves to undefined if there is nothing to say. */
  write(): Promise<string | undefined>;
}

interface RecordParts {
  settings: SettingStore;
  /**
   * Sends a message to the contact methods of a person while `isNeeded` returns true. Resolves to false if the message
   * must be sent again.
   */
  send(person: string, text: string, isNeeded: () => boolean): Promise<boolean>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Sends messages to people. Each message is recorded once a receiver has accepted it. After a restart, or on another
 * instance, it is sent again only if it may not have arrived.
 */
export class RecordedMessages {
  readonly #parts: RecordParts;
  /** Messages being sent. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  /**
   * Starts to send a message. Does nothing if the message is being sent, or has already been sent here or by another
   * instance.
   */
  sendOnce(due: DueMessage): void {
    const { clock, send, log } = this.#parts;
    const key = JSON.stringify([due.kind, due.name, due.member, due.record]);
    const isNeeded = (): boolean => clock().getTime() <= due.until && !this.#isRecorded(due);
    if (this.#sending.has(key) || !isNeeded()) return;
    const deliver = async (): Promise<void> => {
      const text = await due.write();
      if (text === undefined || (await send(due.person, text, isNeeded))) await this.#record(due);
    };
    const sending = deliver()
      .catch((err) => {
        if (!(err instanceof StoreUnavailable)) log.warn({ err }, 'oncall: a message to a person was not sent');
      })
      .finally(() => this.#sending.delete(key));
    this.#sending.set(key, sending);
  }

  /** Resolves once no message is being sent. Close the destinations first. */
  async close(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  #isRecorded({ kind, name, member, record }: DueMessage): boolean {
    return this.#parts.settings.find<Record<string, string>>(kind, name)?.value[member] === record;
  }

  async #record({ kind, name, member, record }: DueMessage): Promise<void> {
    const { settings } = this.#parts;
    for (let left = mostRecords; left > 0; left -= 1) {
      const last = settings.find<Record<string, string>>(kind, name);
      try {
        await settings.put(kind, name, { ...last?.value, [member]: record }, ownSender, [last?.version ?? 0]);
        return;
      } catch (error) {
        // Another message with the same name was recorded at the same time.
        if (!(error instanceof StoreConflict)) throw error;
      }
    }
  }
}
