import type fastCheck from 'fast-check';
import type { LogRecord, StoredRecord } from '../../src/storage/journal/line.ts';
import type { ProjectionState } from '../../src/storage/projection-state.ts';

/** Adds an amount to a total. With `expected`, adds it only if the total has that value. */
export interface LedgerEvent extends LogRecord {
  name: string;
  amount: number;
  expected?: number;
}

type LedgerOutcome = { total: number } | { refused: number } | undefined;

/** Totals by name. They reveal events that are lost, repeated or out of order. */
export class Ledger implements ProjectionState<LedgerOutcome> {
  readonly #totals = new Map<string, number>();

  fold(event: StoredRecord): LedgerOutcome {
    const { name, amount, expected } = event as Partial<LedgerEvent>;
    if (typeof name !== 'string' || typeof amount !== 'number') return undefined;
    const total = this.#totals.get(name) ?? 0;
    if (expected !== undefined && expected !== total) return { refused: total };
    this.#totals.set(name, total + amount);
    return { total: total + amount };
  }

  save(): (readonly unknown[])[] {
    return Array.from(this.#totals, ([name, total]) => [{ name, total }]);
  }

  restore(entry: unknown): void {
    const { name, total } = Object(entry);
    if (typeof name === 'string') this.#totals.set(name, total);
  }

  /** Returns the totals in the order in which they began. */
  read(): [name: string, total: number][] {
    return [...this.#totals];
  }
}

export const createLedgerEvents = (fc: typeof fastCheck): fastCheck.Arbitrary<LedgerEvent> =>
  fc.record(
    {
      name: fc.constantFrom('a', 'b', 'c'),
      amount: fc.integer({ min: -9, max: 9 }),
      expected: fc.constantFrom(0, 1, 2),
    },
    { requiredKeys: ['name', 'amount'] },
  );
