import type { CheckId } from '../../kit/availability.ts';
import { toNotStored } from '../../storage/journal/errors.ts';
import { openProjectionStore, ProjectionStore, type ProjectionStoreParts } from '../../storage/projection-store.ts';
import type { AvailabilityEvent } from './events.ts';
import { AvailabilityFold, type ChangedCheck } from './fold.ts';
import type { CheckHistory } from './history.ts';

/** Histories of checks: a projection of the availability log. */
export class AvailabilityStore extends ProjectionStore<AvailabilityFold> {
  static async open(parts: ProjectionStoreParts): Promise<AvailabilityStore> {
    return new AvailabilityStore(await openProjectionStore('availability', parts, () => new AvailabilityFold()));
  }

  find(check: CheckId): CheckHistory | undefined {
    return this.state.find(check);
  }

  /** Calls the listener with each check whose history has changed. `all` stands for every check. */
  onChanged(listener: (check: CheckId | 'all') => void): void {
    this.projection.onFolded((changed: readonly ChangedCheck[] = ['all']) => {
      for (const check of changed) if (check !== undefined) listener(check);
    });
  }

  /**
   * Appends events. Resolves once they have been stored and folded, in order. Rejects with StoreUnavailable if the log
   * cannot store them.
   */
  async append(events: readonly AvailabilityEvent[]): Promise<void> {
    try {
      await Promise.all(events.map((event) => this.projection.append({ ...event })));
    } catch (error) {
      throw toNotStored('State changes of checks', error as Error);
    }
  }
}
