import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';

/** How many alerts that may come again are remembered. */
const mostKnown = 10_000;

export const defaultRepeatMinutes = 240;

/** Which records of alerts that come again are sent: those that come long enough after the one that was sent last. */
export class Reminders {
  readonly #afterMs: number;
  /** When each alert was sent last, by the id of the first record, on the monotonic clock. */
  readonly #sentAt = new Map<string, number>();

  constructor(repeatMinutes = defaultRepeatMinutes) {
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
    const sentAt = this.#sentAt.get(String(repeatOf));
    return this.mayWant(record) && (sentAt === undefined || performance.now() - sentAt >= this.#afterMs);
  }

  /** The record was delivered. */
  note({ id, repeatOf, fingerprint }: StoredRecord): void {
    if (this.#afterMs === 0 || fingerprint === undefined) return;
    const first = typeof repeatOf === 'string' ? repeatOf : id;
    this.#sentAt.delete(first);
    this.#sentAt.set(first, performance.now());
    const [oldest] = this.#sentAt.keys();
    if (this.#sentAt.size > mostKnown && oldest !== undefined) this.#sentAt.delete(oldest);
  }
}
