import { SettingKeeper, type SettingKeeperParts } from '../../kit/setting-keeper.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import type { ConfiguredHeartbeat, HeartbeatDefinition, KnownHeartbeat } from './definition.ts';
import { heartbeatKind, type StoredHeartbeat } from './kind.ts';

/** All heartbeats, also by their addresses. */
export class HeartbeatKeeper extends SettingKeeper<
  StoredHeartbeat,
  KnownHeartbeat,
  ConfiguredHeartbeat,
  HeartbeatDefinition
> {
  /** The list that is indexed by address. */
  #indexed: readonly KnownHeartbeat[] = [];
  #byUuid: ReadonlyMap<string | undefined, KnownHeartbeat> = new Map();

  constructor(parts: SettingKeeperParts<KnownHeartbeat, ConfiguredHeartbeat>) {
    super(heartbeatKind, parts);
  }

  findByAddress(uuid: string): KnownHeartbeat | undefined {
    const all = this.list();
    if (all !== this.#indexed) this.#byUuid = new Map(all.map((one) => [one.uuid, one]));
    this.#indexed = all;
    return this.#byUuid.get(uuid.toLowerCase());
  }

  /** Creates a heartbeat unless there is one of the name, which stays as it is. Rejects with an HttpError. */
  async findOrCreate(
    name: string,
    definition: HeartbeatDefinition,
    by: string,
  ): Promise<{ known: KnownHeartbeat; isNew: boolean }> {
    const there = this.find(name);
    if (there) return { known: there, isNew: false };
    try {
      return { known: await this.put(name, definition, by, [0]), isNew: true };
    } catch (error) {
      const other = error instanceof StoreConflict ? this.find(name) : undefined;
      if (other) return { known: other, isNew: false };
      throw error;
    }
  }
}
