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

/** Attempts to record a message. */
const mostRecords = 5;

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

/** Message that is due until a time in Unix milliseconds. */
interface DueMessage {
  message: keyof LastMessages;
  person: string;
  startsAt: number;
  until: number;
}

interface MessageParts {
  rotations: Rotations;
  settings: SettingStore;
  incidents: Pick<IncidentSource, 'listUnsettled' | 'listSent'>;
  silences: Pick<SilenceStore, 'list'>;
  /** Lease of the instance that sends messages on behalf of all instances. */
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  /** Sends a text to the ways of a person while `isNeeded`; resolves to false if the text must be sent again. */
  send(person: string, text: string, isNeeded: () => boolean): Promise<boolean>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Reminds people an hour before their shifts, and sends them a report at the handover. Each message is recorded once a
 * receiver has accepted it, so that a restart or another instance sends it again only if it may be missing.
 */
export class ShiftMessages {
  readonly #parts: MessageParts;
  #timer: NodeJS.Timeout | undefined;
  /** Messages being sent. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(parts: MessageParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.rotations.onChanged(() => this.#look());
    this.#parts.lease.onChanged(() => this.#look());
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#look();
  }

  /** Resolves once no message is being sent; the destinations must be closed before. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#sending.values());
  }

  /** Begins to send due messages. */
  #look(): void {
    const { rotations, lease, settings } = this.#parts;
    if (!lease.isHeld() || !settings.isRead()) return;
    for (const rotation of rotations.list()) {
      if (rotation.kind !== 'person') continue;
      this.#remind(rotation);
      this.#report(rotation);
    }
  }

  #remind(rotation: Rotation): void {
    const now = this.#parts.clock().getTime();
    const startsAt = rotation.nextMemberChangeAfter(now);
    if (startsAt === undefined || startsAt - now > reminderMs) return;
    const person = rotation.memberAt(startsAt);
    if (person === undefined) return;
    const minutes = Math.round((startsAt - now) / minuteMs);
    const wait = minutes === 60 ? '1 hour' : minutes === 1 ? '1 minute' : `${minutes} minutes`;
    const text = `Your shift in ${rotation.name} begins in ${wait}, at ${toLocalMinute(startsAt)}.`;
    this.#sendOnce(rotation, { message: 'reminder', person, startsAt, until: startsAt }, async () => text);
  }

  #report(rotation: Rotation): void {
    const { clock, incidents, silences } = this.#parts;
    const now = clock().getTime();
    const person = rotation.memberAt(now);
    const startsAt = rotation.memberSince(now);
    const until = startsAt + latestMs;
    if (person === undefined || now > until) return;
    const since = rotation.memberSince(startsAt - 1);
    const endsAt = rotation.nextMemberChangeAfter(now);
    this.#sendOnce(rotation, { message: 'handover', person, startsAt, until }, () =>
      writeHandoverReport({ rotation: rotation.name, startsAt, endsAt, since }, { incidents, silences }),
    );
  }

  /** Begins to send a message, unless it is being sent, or has been sent here or by another instance. */
  #sendOnce(rotation: Rotation, due: DueMessage, write: () => Promise<string>): void {
    const { clock, send, log } = this.#parts;
    const key = JSON.stringify([rotation.name, due.message, toRecord(due)]);
    const isNeeded = (): boolean => clock().getTime() <= due.until && !this.#isRecorded(rotation, due);
    if (this.#sending.has(key) || !isNeeded()) return;
    const deliver = async (): Promise<void> => {
      if (await send(due.person, await write(), isNeeded)) await this.#record(rotation, due);
    };
    const sending = deliver()
      .catch((err) => {
        if (!(err instanceof StoreUnavailable)) log.warn({ err }, 'oncall: a message about a shift was not sent');
      })
      .finally(() => this.#sending.delete(key));
    this.#sending.set(key, sending);
  }

  #isRecorded({ name }: Rotation, due: DueMessage): boolean {
    return this.#parts.settings.find<LastMessages>(messageKind, name)?.value[due.message] === toRecord(due);
  }

  async #record({ name }: Rotation, due: DueMessage): Promise<void> {
    const { settings } = this.#parts;
    for (let left = mostRecords; left > 0; left -= 1) {
      const last = settings.find<LastMessages>(messageKind, name);
      const value = { ...last?.value, [due.message]: toRecord(due) };
      try {
        await settings.put(messageKind, name, value, ownSender, [last?.version ?? 0]);
        return;
      } catch (error) {
        // Another message of the rotation was recorded at the same time.
        if (!(error instanceof StoreConflict)) throw error;
      }
    }
  }
}

const toRecord = ({ startsAt, person }: DueMessage): string => `${startsAt} ${person}`;
