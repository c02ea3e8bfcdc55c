import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { StoreUnavailable } from '../../expected-errors.ts';
import { HttpError } from '../../http/errors.ts';
import { createSerial } from '../../storage/scheduling.ts';
import { CompiledSettings } from '../compiled-settings.ts';
import type { MadeSetting, SettingStore } from '../offers.ts';
import {
  assertName,
  compileTimes,
  type HeartbeatDefinition,
  type HeartbeatSettings,
  type KnownHeartbeat,
  toConfigured,
} from './definition.ts';

const kind = 'heartbeat';

/** How many heartbeats there can be. */
const mostHeartbeats = 5000;

/** As it is stored. */
interface StoredHeartbeat extends HeartbeatDefinition {
  uuid: string;
}

interface KeeperParts {
  /** Undefined where nothing can be made at run time. */
  settings: SettingStore | undefined;
  configured: HeartbeatSettings['heartbeats'];
  /** Gets the error of one that cannot be used. */
  onUnusable(name: string, error: Error): void;
}

/** All heartbeats: those of the config file, and those that people have made. */
export class HeartbeatKeeper {
  readonly #parts: KeeperParts;
  #configured: readonly KnownHeartbeat[];
  readonly #compiled: CompiledSettings<StoredHeartbeat, KnownHeartbeat>;
  /** Those made at run time that are indexed; undefined where the config file has changed since. */
  #indexed: readonly KnownHeartbeat[] | undefined;
  readonly #listeners: (() => void)[] = [];
  readonly #serially = createSerial();
  #byName = new Map<string, KnownHeartbeat>();
  #byUuid = new Map<string, KnownHeartbeat>();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#configured = parts.configured.map((one) => toConfigured(one, 0));
    this.#compiled = new CompiledSettings({ ...parts, kind, compile });
  }

  /** Takes those of a config file that was read again at `at`. */
  configure(configured: HeartbeatSettings['heartbeats'], at: number): void {
    const before = new Map(this.#configured.map((one) => [one.name, one]));
    this.#configured = configured.map((one) => {
      const known = before.get(one.name);
      const next = toConfigured(one, at);
      return known && isDeepStrictEqual(known.definition, next.definition)
        ? { ...next, changedAt: known.changedAt }
        : next;
    });
    this.#indexed = undefined;
    for (const listener of this.#listeners) listener();
  }

  get isChangeable(): boolean {
    return this.#parts.settings !== undefined;
  }

  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
    this.#compiled.onChanged(listener);
  }

  /** By name. */
  list(): readonly KnownHeartbeat[] {
    this.#index();
    return [...this.#byName.values()];
  }

  find(name: string): KnownHeartbeat | undefined {
    this.#index();
    return this.#byName.get(name);
  }

  findByAddress(uuid: string): KnownHeartbeat | undefined {
    this.#index();
    return this.#byUuid.get(uuid.toLowerCase());
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
      const settings = this.#requireSettings(name);
      assertName(name);
      compileTimes(definition);
      await settings.catchUp();
      const known = this.find(name);
      if (!known && this.#byName.size >= mostHeartbeats) {
        throw new HttpError('wrong-state', `There are ${mostHeartbeats} heartbeats: delete some first`);
      }
      const value: StoredHeartbeat = { ...definition, uuid: known?.uuid ?? randomUUID() };
      return compile(await settings.put(kind, name, value, by, expected ?? [settings.find(kind, name)?.version ?? 0]));
    });
  }

  /** Resolves to whether there was one. Rejects with an HttpError. */
  async delete(name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    return this.#requireSettings(name).delete(kind, name, by, expected);
  }

  #requireSettings(name: string): SettingStore {
    const { settings } = this.#parts;
    if (!settings) throw new StoreUnavailable('Settings are not mounted');
    if (this.#configured.some((one) => one.name === name)) {
      throw new HttpError('wrong-state', `Heartbeat ${name} is in the config file: change it there`);
    }
    return settings;
  }

  #index(): void {
    const made = this.#compiled.list();
    if (made === this.#indexed) return;
    this.#indexed = made;
    // The config file comes last: it wins.
    const sorted = [...made, ...this.#configured].sort((one, other) => (one.name < other.name ? -1 : 1));
    this.#byName = new Map(sorted.map((one) => [one.name, one]));
    for (const one of this.#configured) this.#byName.set(one.name, one);
    this.#byUuid = new Map([...this.#byName.values()].flatMap((one) => (one.uuid ? [[one.uuid, one] as const] : [])));
  }
}

const compile = ({ name, value, version, by, at, createdAt }: MadeSetting<StoredHeartbeat>): KnownHeartbeat => {
  const { uuid, ...definition } = value;
  const times = compileTimes(definition);
  return { name, uuid, definition, times, since: createdAt, changedAt: at, made: { version, by, at } };
};
