import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';
import type { Progress } from './progress.ts';

export const defaultRepeatMinutes = 240;

/** Which records of alerts that come again are sent: those that come long enough after the one that was sent last. */
export class Reminders {
  readonly #progress: Progress;
  readonly #clock: () => Date;
  readonly #afterMs: number;

  constructor(progress: Progress, clock: () => Date, repeatMinutes = defaultRepeatMinutes) {
    this.#progress = progress;
    this.#clock = clock;
    this.#afterMs = repeatMinutes * 60_000;
  }

  /** Whether the destination may get the record at all. */
  mayWant({ repeatOf }: StoredRecord): boolean {
    return repeatOf === undefined || this.#afterMs > 0;
  }

  /** Whether the record is to be sent now. */
  isDue(record: StoredRecord): boolean {
    const { repeatOf } = record;
    if (repeatOf === undefined) return true;
    const passed = this.#clock().getTime() - (this.#progress.sentAt(String(repeatOf)) ?? 0);
    // The clock was ahead when the last one was sent, or some time has passed.
    return this.mayWant(record) && (passed < 0 || passed >= Math.floor(this.#afterMs));
  }

  /** The record was delivered. */
  note({ id, repeatOf, fingerprint }: StoredRecord): void {
    if (fingerprint === undefined) return;
    this.#progress.noteSent(typeof repeatOf === 'string' ? repeatOf : id, this.#clock().getTime());
  }
}
