import type { SettingStore } from '../../../kit/setting-store.ts';
import type { Proposal } from './proposals.ts';

/** Kind of runtime setting for declined proposals, by id. It has no routes. */
const declinedKind = 'declined-proposal';

const limit = { count: 1000, plural: 'declined proposals' };

/** Declined proposals. Each is removed some time after its period has ended. */
export class DeclinedProposals {
  readonly #settings: SettingStore;

  /** Calls `onDeclined` after changes, also by other instances. */
  constructor(settings: SettingStore, onDeclined: () => void) {
    this.#settings = settings;
    settings.onChanged(declinedKind, onDeclined);
  }

  has({ id }: Pick<Proposal, 'id'>): boolean {
    return this.#settings.find(declinedKind, id) !== undefined;
  }

  async add({ id, rotation, person, endsAt }: Proposal, by: string): Promise<void> {
    await this.#settings.put(declinedKind, id, { rotation, person, endsAt }, by, undefined, { limit });
  }
}
