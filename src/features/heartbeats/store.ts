import { HttpError } from '../../http/errors.ts';
import { MiB } from '../../lib/units.ts';
import { JournalError, toNotStored } from '../../storage/journal/errors.ts';
import { openProjectionStore, ProjectionStore, type ProjectionStoreParts } from '../../storage/projection-store.ts';
import type { LogOptions } from '../../storage/storage.ts';
import { HeartbeatsFold } from './fold.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import type { Outage } from './outages.ts';
import type { HeartbeatRecord } from './records.ts';

/**
 * Options of the log. Segments are deleted once a snapshot contains their records. The latest records stay in memory,
 * so that new records are folded without reading the disk.
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

/** Heartbeat states: a projection of the heartbeats log. */
export class HeartbeatStore extends ProjectionStore<HeartbeatsFold> {
  static async open(parts: ProjectionStoreParts): Promise<HeartbeatStore> {
    return new HeartbeatStore(await openProjectionStore('heartbeats', parts, () => new HeartbeatsFold()));
  }

  get outages(): readonly Outage[] {
    return this.state.outages;
  }

  find(name: string): HeartbeatState | undefined {
    return this.state.find(name);
  }

  list(): IterableIterator<HeartbeatState> {
    return this.state.list();
  }

  /**
   * Calls the listener with the name of each heartbeat whose state has changed. An empty name stands for all
   * heartbeats.
   */
  onChanged(listener: (name: string) => void): void {
    this.projection.onFolded((changed) => {
      for (const name of changed ?? ['']) if (name !== undefined) listener(name);
    });
  }

  /**
   * Appends a record. Resolves once it has been stored and folded. Rejects with StoreUnavailable or an HttpError if the
   * log refuses it.
   */
  async append(record: HeartbeatRecord): Promise<void> {
    await this.projection.append({ ...record }).catch(refuse);
  }
}

/** Converts a refusal by the log to StoreUnavailable or an HttpError. Rethrows other errors. */
const refuse = (error: unknown): never => {
  if (!(error instanceof JournalError)) throw error;
  if (error.code === 'too-large') throw new HttpError('too-large', `The ping was not stored: ${error.message}`);
  throw toNotStored('Heartbeats', error);
};
