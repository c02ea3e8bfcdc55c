import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import type { SilenceStore } from '../../../kit/silence-source.ts';
import { toLocalMinute } from '../../../lib/local-time.ts';
import { hourMs, minuteMs } from '../../../lib/units.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import { writeHandoverReport } from './handover-report.ts';
import type { RecordedMessages } from './recorded-messages.ts';
import type { Rotation } from './rotation.ts';
import type { Rotations } from './rotations.ts';

/** Milliseconds before a shift at which the person on call is reminded. */
const reminderMs = hourMs;

/** Milliseconds after a handover during which the report may still be sent. */
const latestMs = 30 * minuteMs;

/** Milliseconds between two readings of the clock. */
const lookMs = 10_000;

/**
 * Kind of runtime setting that records the last reminder and the last handover report of a rotation, each with its
 * person and the start of the shift.
 */
const kind = 'shift-message';

interface MessageParts {
  rotations: Rotations;
  settings: Pick<SettingStore, 'isRead'>;
  messages: Pick<RecordedMessages, 'sendOnce'>;
  incidents: Pick<IncidentSource, 'listUnsettled' | 'listSent'>;
  silences: Pick<SilenceStore, 'list'>;
  /** Lease of the instance that sends messages for all instances. */
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  clock: () => Date;
}

/** Reminds people an hour before their shifts. Sends them a report at the handover. */
export class ShiftMessages {
  readonly #parts: MessageParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: MessageParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.rotations.onChanged(() => this.#look());
    this.#parts.lease.onChanged(() => this.#look());
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Starts to send the messages that are due. */
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
    const { name } = rotation;
    const now = this.#parts.clock().getTime();
    const startsAt = rotation.nextMemberChangeAfter(now);
    if (startsAt === undefined || startsAt - now > reminderMs) return;
    const person = rotation.memberAt(startsAt);
    if (person === undefined) return;
    const minutes = Math.round((startsAt - now) / minuteMs);
    const wait = minutes === 60 ? '1 hour' : minutes === 1 ? '1 minute' : `${minutes} minutes`;
    const text = `Your shift in ${name} begins in ${wait}, at ${toLocalMinute(startsAt)}.`;
    const record = toRecord(startsAt, person);
    const write = async (): Promise<string> => text;
    this.#parts.messages.sendOnce({ kind, name, member: 'reminder', record, person, until: startsAt, write });
  }

  #report(rotation: Rotation): void {
    const { clock, incidents, silences, messages } = this.#parts;
    const { name } = rotation;
    const now = clock().getTime();
    const person = rotation.memberAt(now);
    const startsAt = rotation.memberSince(now);
    const until = startsAt + latestMs;
    if (person === undefined || now > until) return;
    const since = rotation.memberSince(startsAt - 1);
    const endsAt = rotation.nextMemberChangeAfter(now);
    const shift = { rotation: name, startsAt, endsAt, since };
    const record = toRecord(startsAt, person);
    const write = (): Promise<string> => writeHandoverReport(shift, { incidents, silences });
    messages.sendOnce({ kind, name, member: 'handover', record, person, until, write });
  }
}

const toRecord = (startsAt: number, person: string): string => `${startsAt} ${person}`;
