import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type KeeperParts, MergedSettings } from '../../kit/compiled-settings.ts';
import type { RuntimeSetting } from '../../kit/offers.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { createSerial } from '../../lib/scheduling.ts';
import {
  assertName,
  type ConfiguredHeartbeat,
  compileTimes,
  type HeartbeatDefinition,
  type KnownHeartbeat,
  toKnownHeartbeat,
} from './definition.ts';

/** As settings made at run time. */
const heartbeatKind = 'heartbeat';

/** How many heartbeats there can be. */
const mostHeartbeats = 5000;

/** As it is stored. */
interface StoredHeartbeat extends HeartbeatDefinition {
  uuid: string;
}

/** All heartbeats: those of the config file, and those that people have made. */
export class HeartbeatKeeper extends MergedSettings<StoredHeartbeat, KnownHeartbeat> {
  readonly #serially = createSerial();
  /** The list that is indexed by address. */
  #indexed: readonly KnownHeartbeat[] = [];
  #byUuid: ReadonlyMap<string | undefined, KnownHeartbeat> = new Map();

  constructor({ configured, ...parts }: KeeperParts<ConfiguredHeartbeat>) {
    const names = { kind: heartbeatKind, noun: 'Heartbeat', path: '/api/heartbeats', most: mostHeartbeats };
    super({ ...parts, ...names, compile, configured: configured.map((one) => toKnownHeartbeat(one, 0)) });
  }

  /** Takes those of a config file that was read again at `at`. */
  configure(configured: readonly ConfiguredHeartbeat[], at: number): void {
    const next = configured.map((one) => {
      const known = this.find(one.name);
      const changed = toKnownHeartbeat(one, at);
      return known && !known.made && isDeepStrictEqual(known.definition, changed.definition)
        ? { ...changed, changedAt: known.changedAt }
        : changed;
    });
    this.setConfigured(next);
  }

  /** Learns now what other instances have changed. */
  async catchUp(): Promise<void> {
    await this.settings?.catchUp();
  }

  findByAddress(uuid: string): KnownHeartbeat | undefined {
    const all = this.list();
    if (all !== this.#indexed) this.#byUuid = new Map(all.map((one) => [one.uuid, one]));
    this.#indexed = all;
    return this.#byUuid.get(uuid.toLowerCase());
  }

  /** Creates a heartbeat unless there is one of the name, which stays as it is. Rejects with an HttpError. */
  findOrCreate(
    name: string,
    definition: HeartbeatDefinition,
    by: string,
  ): Promise<{ known: KnownHeartbeat; isNew: boolean }> {
    return this.#serially(async () => {
      assertName(name);
      await this.settings?.catchUp();
      const known = this.find(name);
      if (known) return { known, isNew: false };
      const value: StoredHeartbeat = { ...definition, uuid: randomUUID() };
      try {
        const made = await this.requireSettings(name).put(heartbeatKind, name, value, by, [0], this.limits);
        return { known: compile(made), isNew: true };
      } catch (error) {
        const other = error instanceof StoreConflict ? this.find(name) : undefined;
        if (other) return { known: other, isNew: false };
        throw error;
      }
    });
  }

  /** Creates or replaces one, which keeps its address; resolves to it. Rejects with an HttpError. */
  put(
    name: string,
    definition: HeartbeatDefinition,
    by: string,
    expected?: readonly number[],
  ): Promise<KnownHeartbeat> {
    // One after the other: of two new ones with one name, the second keeps the address that the first has got.
    return this.#serially(async () => {
      const settings = this.requireSettings(name);
      assertName(name);
      compileTimes(definition);
      await settings.catchUp();
      const known = this.find(name);
      const value: StoredHeartbeat = { ...definition, uuid: known?.uuid ?? randomUUID() };
      const version = settings.find(heartbeatKind, name)?.version ?? 0;
      return compile(await settings.put(heartbeatKind, name, value, by, expected ?? [version], this.limits));
    });
  }
}

const compile = ({ name, value, version, by, at, createdAt }: RuntimeSetting<StoredHeartbeat>): KnownHeartbeat => {
  const { uuid, ...definition } = value;
  const times = compileTimes(definition);
  return { name, uuid, definition, times, since: createdAt, changedAt: at, made: { version, by, at } };
};
