import type { FastifyBaseLogger } from 'fastify';
import { HttpError } from '../../http/errors.ts';
import { MiB } from '../../lib/units.ts';
import { JournalError, toNotStored } from '../../storage/journal/errors.ts';
import { Projection } from '../../storage/projection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import type { LogOptions } from '../../storage/storage.ts';
import { HeartbeatsFold } from './fold.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import type { Outage } from './outages.ts';
import type { HeartbeatRecord } from './records.ts';

/**
 * Segments are deleted once a snapshot contains their records. The latest records stay in memory, so that new records
 * are folded without reading the disk.
 */
export const heartbeatLog: LogOptions = {
  title: 'heartbeat log',
  segmentBytes: 8 * MiB,
  retainBytes: 1,
  awaitsHold: true,
  expects: 'all',
  recentCount: 2000,
  logsRemoval: false,
};

interface StoreParts {
  log: RecordLog;
  snapshot: ProjectionSnapshot;
  report: Pick<FastifyBaseLogger, 'error' | 'warn'>;
}

/** Heartbeat states: a projection of the heartbeats log. */
export class HeartbeatStore {
  readonly #log: RecordLog;
  readonly #projection: Projection<HeartbeatsFold>;

  private constructor(log: RecordLog, projection: Projection<HeartbeatsFold>) {
    this.#log = log;
    this.#projection = projection;
  }

  /** Opens the store, which is empty until its database is available. */
  static async open({ log, snapshot, report }: StoreParts): Promise<HeartbeatStore> {
    const projection = await Projection.open({
      log,
      snapshot,
      createState: () => new HeartbeatsFold(),
      onDamage: (damage) => report.error({ damage }, 'heartbeats: the snapshot is damaged'),
      onUnsaved: (err) => report.warn({ err }, 'heartbeats: the snapshot cannot be written; the log is kept'),
    });
    return new HeartbeatStore(log, projection);
  }

  /** True if all records have been read and new ones can be stored. */
  get isReady(): boolean {
    return this.#projection.isReady;
  }

  /** True if all records known to be stored have been folded. */
  get isCurrent(): boolean {
    return this.#projection.isCurrent;
  }

  get outages(): readonly Outage[] {
    return this.#projection.state.outages;
  }

  find(name: string): HeartbeatState | undefined {
    return this.#projection.state.find(name);
  }

  list(): IterableIterator<HeartbeatState> {
    return this.#projection.state.list();
  }

  /** Calls the listener with the name of each heartbeat whose state changed; empty for all heartbeats. */
  onChanged(listener: (name: string) => void): void {
    this.#projection.onFolded((changed) => {
      for (const name of changed ?? ['']) if (name !== undefined) listener(name);
    });
  }

  /** Resolves once the record has been stored and folded. Rejects with StoreUnavailable or an HttpError. */
  async append(record: HeartbeatRecord): Promise<void> {
    await this.#projection.append({ ...record }).catch(refuse);
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

/** Converts a refusal by the log to StoreUnavailable or an HttpError; rethrows other errors. */
const refuse = (error: unknown): never => {
  if (!(error instanceof JournalError)) throw error;
  if (error.code === 'too-large') throw new HttpError('too-large', `The ping was not stored: ${error.message}`);
  throw toNotStored('Heartbeats', error);
};
