import { codeOf } from './journal/errors.ts';
import type { RecordLogState } from './record-log.ts';

/**
 * Events of which nobody knows whether the log has them, because their append has failed. A log that instances share has no such
 * doubt: whatever it has, counts.
 */
export class DoubtfulEvents {
  readonly #ids = new Set<string>();
  /** The highest seq that one of them can have. */
  #seq = 0;

  get areThere(): boolean {
    return this.#ids.size > 0;
  }

  get seq(): number {
    return this.#seq;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Notes an event whose append has failed, unless it is certain that nothing was written. */
  note(id: string, error: unknown, { assignedSeq }: RecordLogState): void {
    // For want of space nothing is written.
    const isWritten = codeOf(error) === 'unavailable' && codeOf((error as Error).cause) !== 'low-space';
    if (assignedSeq === undefined || !isWritten) return;
    this.#ids.add(id);
    // Others append to the log, too, but none of them since the failure.
    this.#seq = Math.max(this.#seq, assignedSeq);
  }

  /** A snapshot without them is stored as of their seq. */
  clear(): void {
    this.#ids.clear();
  }
}
