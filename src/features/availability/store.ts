import type { FastifyBaseLogger } from 'fastify';
import type { CheckId } from '../../kit/availability.ts';
import { toNotStored } from '../../storage/journal/errors.ts';
import { Projection } from '../../storage/projection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import type { AvailabilityEvent } from './events.ts';
import { AvailabilityFold, type ChangedCheck } from './fold.ts';
import type { CheckHistory } from './history.ts';

interface StoreParts {
  log: RecordLog;
  snapshot: ProjectionSnapshot;
  report: Pick<FastifyBaseLogger, 'error' | 'warn'>;
}

/** Histories of checks: a projection of the availability log. */
export class AvailabilityStore {
  readonly #log: RecordLog;
  readonly #projection: Projection<AvailabilityFold>;

  private constructor(log: RecordLog, projection: Projection<AvailabilityFold>) {
    this.#log = log;
    this.#projection = projection;
  }

  /** Opens the store, which is empty until its database is available. */
  static async open({ log, snapshot, report }: StoreParts): Promise<AvailabilityStore> {
    const projection = await Projection.open({
      log,
      snapshot,
      createState: () => new AvailabilityFold(),
      onDamage: (damage) => report.error({ damage }, 'availability: the snapshot is damaged'),
      onUnsaved: (err) => report.warn({ err }, 'availability: the snapshot cannot be written; the log is kept'),
    });
    return new AvailabilityStore(log, projection);
  }

  /** True if all events have been read and new ones can be stored. */
  get isReady(): boolean {
    return this.#projection.isReady;
  }

  get state(): AvailabilityFold {
    return this.#projection.state;
  }

  find(check: CheckId): CheckHistory | undefined {
    return this.state.find(check);
  }

  /** Calls the listener with each check whose history changed, or with `all` if every history changed. */
  onChanged(listener: (check: CheckId | 'all') => void): void {
    this.#projection.onFolded((changed: readonly ChangedCheck[] = ['all']) => {
      for (const check of changed) if (check !== undefined) listener(check);
    });
  }

  /** Resolves once the events have been stored and folded in order. Rejects with StoreUnavailable. */
  async append(events: readonly AvailabilityEvent[]): Promise<void> {
    try {
      await Promise.all(events.map((event) => this.#projection.append({ ...event })));
    } catch (error) {
      throw toNotStored('Changes of checks', error as Error);
    }
  }

  catchUp(): Promise<void> {
    return this.#projection.catchUp();
  }

  /** Stores a snapshot. If that fails, the failure is logged and the log is kept. */
  async save(): Promise<void> {
    await this.#projection.save().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#projection.close();
    await this.#log.close();
  }
}
