import { ValueRefusal } from '../../../lib/expected-errors.ts';
import type { LogRecord, StoredRecord } from '../../../storage/journal/line.ts';
import type { DatabaseLog } from '../../../storage/postgres/database-log.ts';
import type { NewRecord, Placed, RowRepeatId } from '../../../storage/postgres/record-collection.ts';
import { FirstAlerts } from './first-alerts.ts';

/** Alerts that this process stores in the database. Remembers the alerts with an `Idempotency-Key`. */
export class AlertRows {
  readonly repeats: FirstAlerts;
  readonly #log: Pick<DatabaseLog, 'add' | 'toNew'>;
  readonly #clock: () => Date;

  constructor(log: Pick<DatabaseLog, 'add' | 'toNew'>, clock: () => Date) {
    this.#log = log;
    this.#clock = clock;
    this.repeats = new FirstAlerts(clock);
  }

  /**
   * Stores lines from the spool. Resolves once all lines have been committed, apart from lines that the database
   * refuses.
   */
  async ship(lines: readonly StoredRecord[]): Promise<void> {
    try {
      await this.#shipAll(lines);
    } catch (error) {
      if (!(error instanceof ValueRefusal)) throw error;
      // The writer has already reported the refused line. Halving isolates that line, so that the others are stored.
      if (lines.length === 1) return;
      const half = Math.ceil(lines.length / 2);
      await this.ship(lines.slice(0, half));
      await this.ship(lines.slice(half));
    }
  }

  remember(rows: readonly NewRecord[], placed: readonly Placed[]): void {
    const storedAt = this.#clock().getTime();
    for (const [index, { key }] of rows.entries()) {
      const { id = '' } = placed[index] ?? {};
      if (key?.isOnce) this.repeats.remember(key.hash, { state: key.state, id, storedAt });
    }
  }

  async #shipAll(lines: readonly StoredRecord[]): Promise<void> {
    const rows = lines.map(({ of, record, key }) => ({
      ...this.#log.toNew(record as LogRecord, key as RowRepeatId | undefined),
      id: of as string,
    }));
    // Another instance may have stored the first alert of a repeat.
    this.remember(rows, await this.#log.add(rows, true));
  }
}
