import { HttpError } from '../../http/errors.ts';
import { MiB } from '../../lib/units.ts';
import { toNotStored } from '../../storage/journal/errors.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import { createSnapshotTable } from '../../storage/postgres/snapshot-table.ts';
import { openProjectionStore, ProjectionStore, type ProjectionStoreParts } from '../../storage/projection-store.ts';
import type { LogOptions, Storage } from '../../storage/storage.ts';
import type { Announcement } from './announcement.ts';
import { type PageEvent, PagesFold, type Subscriber } from './fold.ts';

/** Options of the log. Segments are deleted once a snapshot has their events. */
const files: LogOptions = {
  segmentBytes: MiB,
  retainBytes: 1,
  awaitsHold: true,
  expects: 'all',
  recentCount: 1000,
  logsRemoval: false,
};

interface StoreParts {
  storage: Storage;
  /** Lease of the instance that writes snapshots and sends mails. */
  lease: Pick<Lease, 'isHeld'>;
  clock: () => Date;
  report: ProjectionStoreParts['report'];
}

const table = 'status_page';

/** Announcements and subscribers: a projection of the log of status pages. */
export class PageStore extends ProjectionStore<PagesFold> {
  /** Opens the store. It is empty until its database is available. */
  static async open({ storage, lease, clock, report }: StoreParts): Promise<PageStore> {
    const { database } = storage;
    const parts = {
      log: database
        ? await DatabaseLog.open({ database, table, clock, retainDays: () => 0, hasSnapshot: true })
        : await storage.log('status-pages', files),
      snapshot: database
        ? createSnapshotTable({ database, tables: [table], cutsLog: true, isWriter: () => lease.isHeld() })
        : storage.snapshot('status-pages'),
      report,
    };
    const onDamage = (damage: string): void => report.error({ damage }, 'status pages: the snapshot is damaged');
    return new PageStore(await openProjectionStore('status pages', parts, () => new PagesFold(onDamage)));
  }

  onChanged(listener: () => void): void {
    this.projection.onFolded(() => listener());
  }

  /** Stores an announcement or an update. Rejects with an HttpError if a limit is reached. */
  async announce(event: Extract<PageEvent, { type: 'announced' | 'updated' }>): Promise<Announcement> {
    const outcome = await this.#append('Announcements', event);
    if (outcome === 'missing') throw new HttpError('not-found', 'There is no announcement with this id');
    if (outcome !== 'full' && outcome !== 'crowded') return outcome as Announcement;
    throw new HttpError(
      'wrong-state',
      event.type === 'updated' && outcome === 'full'
        ? 'The announcement has the maximum number of updates: create a new announcement'
        : 'The page has the maximum number of open announcements: resolve one first',
    );
  }

  /**
   * Stores a subscriber who was sent a confirmation link at `askedAt`. Resolves to false if the address has left the
   * page since then. Rejects with an HttpError if a limit is reached.
   */
  async subscribe(subscriber: Omit<Subscriber, 'through'>, askedAt: number): Promise<boolean> {
    const outcome = await this.#append('Subscriptions', { type: 'subscribed', subscriber, askedAt, at: subscriber.at });
    if (outcome !== 'full') return outcome !== 'left';
    throw new HttpError('wrong-state', 'This page has the maximum number of subscribers');
  }

  /** Forgets departures that no valid confirmation link precedes. */
  async expireDepartures(at: number): Promise<void> {
    if (this.state.hasExpiredDepartures(at)) await this.#append('Subscriptions', { type: 'expired', at });
  }

  /** Stores an event that has no limits. */
  async note(event: Extract<PageEvent, { type: 'unsubscribed' | 'mailed' | 'forgotten' }>): Promise<void> {
    await this.#append('Subscriptions', event);
  }

  async #append(noun: string, event: PageEvent): Promise<ReturnType<PagesFold['fold']>> {
    try {
      return await this.projection.append({ ...event });
    } catch (error) {
      throw toNotStored(noun, error as Error);
    }
  }
}
