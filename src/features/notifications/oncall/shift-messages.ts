import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../../kit/alert-record.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import type { SilenceStore } from '../../../kit/silence-source.ts';
import { StoreConflict, StoreUnavailable } from '../../../lib/expected-errors.ts';
import { toLocalMinute } from '../../../lib/local-time.ts';
import { hourMs, minuteMs } from '../../../lib/units.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import { writeHandoverReport } from './handover-report.ts';
import type { Rotation } from './rotation.ts';
import type { Rotations } from './rotations.ts';

/** Milliseconds before a shift at which the person on call is reminded. */
const reminderMs = hourMs;

/** Milliseconds after a handover during which the report is still sent. */
const latestMs = 30 * minuteMs;

/** Milliseconds between two readings of the clock. */
const lookMs = 10_000;

/** Kind of runtime setting with the last messages of a rotation. It has no routes and no limits. */
const messageKind = 'shift-message';

/**
 * Last reminder and handover report of a rotation, each with the start of the shift in Unix milliseconds and the
 * person.
 */
interface LastMessages {
  reminder?: string;
  handover?: string;
}

interface MessageParts {
  rotations: Rotations;
  settings: SettingStore;
  incidents: Pick<IncidentSource, 'listUnsettled' | 'listSent'>;
  silences: Pick<SilenceStore, 'list'>;
  /** Lease of the instance that sends messages on behalf of all instances. */
  lease: Pick<Lease, 'isHeld'>;
  /** Sends a text to all ways of a person. Resolves to the number of receivers that accepted the text. */
  send(person: string, text: string): Promise<number>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Reminds people an hour before their shifts and sends them a report at the handover. Each message is recorded before
 * it is sent, so that a restart never sends a message twice.
 */
export class ShiftMessages {
  readonly #parts: MessageParts;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(parts: MessageParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.rotations.onChanged(() => void this.look());
    this.#timer = setInterval(() => void this.look(), lookMs).unref();
    void this.look();
  }

  /** Sends all messages that are due. Never rejects. */
  look(): Promise<void> {
    this.#working = this.#working
      .then(() => this.#look())
      .catch((err) => {
        if (!(err instanceof StoreUnavailable))
          this.#parts.log.warn({ err }, 'oncall: a message about a shift was not sent');
      });
    return this.#working;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }

  async #look(): Promise<void> {
    const { rotations, lease, settings } = this.#parts;
    if (!lease.isHeld() || !settings.isRead()) return;
    for (const rotation of rotations.list()) {
      if (rotation.kind !== 'person') continue;
      await this.#remind(rotation);
      await this.#report(rotation);
    }
  }

  async #remind(rotation: Rotation): Promise<void> {
    const now = this.#parts.clock().getTime();
    const startsAt = rotation.nextMemberChangeAfter(now);
    if (startsAt === undefined || startsAt - now > reminderMs) return;
    const person = rotation.memberAt(startsAt);
    if (person === undefined || !(await this.#record(rotation, 'reminder', startsAt, person))) return;
    const minutes = Math.round((startsAt - now) / minuteMs);
    const wait = minutes === 60 ? '1 hour' : minutes === 1 ? '1 minute' : `${minutes} minutes`;
    await this.#send(person, `Your shift in ${rotation.name} begins in ${wait}, at ${toLocalMinute(startsAt)}.`);
  }

  async #report(rotation: Rotation): Promise<void> {
    const { clock, incidents, silences } = this.#parts;
    const now = clock().getTime();
    const person = rotation.memberAt(now);
    const startsAt = rotation.memberSince(now);
    if (person === undefined || now - startsAt > latestMs) return;
    if (!(await this.#record(rotation, 'handover', startsAt, person))) return;
    const since = rotation.memberSince(startsAt - 1);
    const endsAt = rotation.nextMemberChangeAfter(now);
    await this.#send(
      person,
      await writeHandoverReport({ rotation: rotation.name, startsAt, endsAt, since }, { incidents, silences }),
    );
  }

  /**
   * Records a message before it is sent. Resolves to false if the message was already recorded, here or on another
   * instance.
   */
  async #record(rotation: Rotation, message: keyof LastMessages, startsAt: number, person: string): Promise<boolean> {
    const { settings } = this.#parts;
    const last = settings.find<LastMessages>(messageKind, rotation.name);
    const value = `${startsAt} ${person}`;
    if (last?.value[message] === value) return false;
    try {
      await settings.put(messageKind, rotation.name, { ...last?.value, [message]: value }, ownSender, [
        last?.version ?? 0,
      ]);
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  async #send(person: string, text: string): Promise<void> {
    const { send, log } = this.#parts;
    await send(person, text).catch((err) => log.warn({ err }, 'oncall: a message about a shift was not sent'));
  }
}
