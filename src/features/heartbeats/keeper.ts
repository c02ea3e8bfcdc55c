import { HttpError } from '../../http/errors.ts';
import { SettingKeeper, type SettingKeeperParts } from '../../kit/setting-keeper.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import type { HeartbeatBody, HeartbeatDefinition } from './definition.ts';
import { heartbeatKind, type KnownHeartbeat, type StoredHeartbeat } from './kind.ts';
import type { ConfiguredHeartbeat } from './settings.ts';

/** Definitions of all heartbeats, by name and by address. */
export class HeartbeatKeeper extends SettingKeeper<
  StoredHeartbeat,
  KnownHeartbeat,
  ConfiguredHeartbeat,
  HeartbeatBody
> {
  /** List that `#byUuid` was built from. */
  #indexed: readonly KnownHeartbeat[] = [];
  #byUuid: ReadonlyMap<string | undefined, KnownHeartbeat> = new Map();

  constructor(parts: SettingKeeperParts<KnownHeartbeat, ConfiguredHeartbeat>) {
    super(heartbeatKind, parts);
  }

  findByAddress(uuid: string): KnownHeartbeat | undefined {
    const all = this.list();
    if (all !== this.#indexed) this.#byUuid = new Map(all.map((known) => [known.uuid, known]));
    this.#indexed = all;
    return this.#byUuid.get(uuid.toLowerCase());
  }

  /**
   * Creates or replaces a heartbeat. Rejects with an HttpError if it is invalid, for example because a new heartbeat
   * has the address of an existing one.
   */
  override async put(name: string, given: HeartbeatBody, by: string, expected?: readonly number[]) {
    const other = given.uuid ? this.findByAddress(given.uuid) : undefined;
    if (other && other.name !== name) throw new HttpError('wrong-state', 'Another heartbeat has this UUID');
    return super.put(name, given, by, expected);
  }

  /**
   * Creates a heartbeat, or returns the existing one with that name. Rejects with an HttpError if it cannot be created.
   */
  async findOrCreate(
    name: string,
    definition: HeartbeatDefinition,
    by: string,
  ): Promise<{ known: KnownHeartbeat; isNew: boolean }> {
    const existing = this.find(name);
    if (existing) return { known: existing, isNew: false };
    try {
      return { known: await this.put(name, definition, by, [0]), isNew: true };
    } catch (error) {
      const other = error instanceof StoreConflict ? this.find(name) : undefined;
      if (other) return { known: other, isNew: false };
      throw error;
    }
  }
}
