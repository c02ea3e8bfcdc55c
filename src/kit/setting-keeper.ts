import { HttpError, requireKnown } from '../http/errors.ts';
import { StoreConflict, StoreUnavailable } from '../lib/expected-errors.ts';
import { createSerial } from '../lib/scheduling.ts';
import type { SettingKind } from './setting-kind.ts';
import { type PutOptions, type RuntimeSetting, type SettingStore, toVersionConflict } from './setting-store.ts';

interface Named {
  name: string;
}

/** Usable settings of a keeper. */
interface UsableSettings<Known> {
  find(name: string): Known | undefined;
  list(): readonly Known[];
  listRuntime(): readonly Known[];
}

export interface SettingKeeperParts<Known, Configured = never> {
  settings: SettingStore;
  /** Entries from the config file. */
  configured?: readonly Configured[];
  /** Defaults. Each applies unless another setting has the same name. */
  defaults?: readonly Known[];
  /** Throws an HttpError for a usable setting that cannot currently be stored. `current` has the stored settings. */
  check?(known: Known, current: UsableSettings<Known>): void;
  /** Throws an HttpError for a setting that cannot currently be deleted. */
  checkDeletion?(name: string): void;
  /** Receives the error of a broken setting, possibly one that another version has stored. Called once per setting. */
  onUnusable?(name: string, error: Error): void;
}

interface CompileResult<Known> {
  name: string;
  version: number;
  known: Known | undefined;
  /** Reason why the setting is broken. */
  reason: string | undefined;
}

/**
 * Settings of one kind, in the form that their feature uses. They come from defaults, the config file, and runtime
 * settings.
 */
export class SettingKeeper<Stored, Known extends Named, Configured extends Named = never, Given = Stored> {
  readonly kind: SettingKind<Stored, Known, Configured, Given>;
  readonly #settings: SettingStore;
  readonly #parts: SettingKeeperParts<Known, Configured>;
  readonly #serially = createSerial();
  readonly #listeners: (() => void | Promise<void>)[] = [];
  /** Resolves when the listeners have applied the last change. */
  #applied: Promise<unknown> | undefined;
  #configured: ReadonlyMap<string, Known> = new Map();
  #defaults: readonly Known[];
  /** Runtime settings, compiled on first use after a change. */
  #results: readonly CompileResult<Known>[] = [];
  #isStale = true;
  /** Usable runtime settings with names that are not in the config file. */
  #runtime: readonly Known[] = [];
  /** All usable settings, in the order of the kind. */
  #list: readonly Known[] = [];
  /** Usable settings by name. Created at the first lookup. */
  #byName: ReadonlyMap<string, Known> | undefined;

  constructor(kind: SettingKind<Stored, Known, Configured, Given>, parts: SettingKeeperParts<Known, Configured>) {
    this.kind = kind;
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#defaults = parts.defaults ?? [];
    this.#setConfigured(parts.configured ?? [], 0);
    this.#settings.onChanged(kind.name, () => {
      this.#isStale = true;
      // A setting that has been replaced must not remain in the list of broken settings.
      if (this.#results.some(({ reason }) => reason !== undefined)) this.list();
      this.#callListeners();
    });
  }

  /**
   * Calls the listener when settings have changed here, on another instance, or in the config file. Responses to
   * changes wait for the promise that the listener returns. The promise must not reject.
   */
  onChanged(listener: () => void | Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Applies the entries of a reloaded config file. `at` is in Unix milliseconds. */
  configure(configured: readonly Configured[], at = 0, defaults: readonly Known[] = this.#defaults): void {
    this.#defaults = defaults;
    this.#setConfigured(configured, at);
    this.#callListeners();
  }

  /** Returns all usable settings, in the order of the kind. Returns the same array until a setting changes. */
  list(): readonly Known[] {
    if (!this.#isStale) return this.#list;
    this.#isStale = false;
    this.#compileAll();
    const lasting = [...this.listConfigured(), ...this.#runtime];
    const names = new Set(lasting.map(({ name }) => name));
    const list = [...lasting, ...this.#defaults.filter(({ name }) => !names.has(name))];
    this.#list = this.kind.order === 'name' ? list.sort((one, other) => (one.name < other.name ? -1 : 1)) : list;
    this.#byName = undefined;
    return this.#list;
  }

  /** Returns the settings in the config file, in file order. */
  listConfigured(): readonly Known[] {
    return [...this.#configured.values()];
  }

  /** Returns the usable runtime settings, oldest first. Leaves out settings that the config file overrides. */
  listRuntime(): readonly Known[] {
    this.list();
    return this.#runtime;
  }

  /** Returns all stored settings, oldest first. Includes broken and overridden settings. */
  listStored(): readonly RuntimeSetting<Stored>[] {
    return this.#settings.list<Stored>(this.kind.name);
  }

  /** Finds a stored setting, even if it is broken or overridden. */
  findStored(name: string): RuntimeSetting<Stored> | undefined {
    return this.#settings.find<Stored>(this.kind.name, name);
  }

  /** False until the stored settings have been read. A database may be unavailable at startup. */
  get isRead(): boolean {
    return this.#settings.isRead();
  }

  find(name: string): Known | undefined {
    const list = this.list();
    this.#byName ??= new Map(list.map((known) => [known.name, known]));
    return this.#byName.get(name);
  }

  /**
   * Returns the setting with a name. Throws an HttpError if there is none, and StoreUnavailable while settings have not
   * been read.
   */
  require(name: string): Known {
    const { noun, path, unread } = this.kind;
    const known = this.find(name);
    if (!known && unread !== undefined && this.#settings.isRead() === false) throw new StoreUnavailable(unread);
    return requireKnown(known, noun, name, path);
  }

  /** Returns the runtime setting with a name. Throws an HttpError if it is missing or defined elsewhere. */
  requireRuntime(name: string): Known {
    const known = this.require(name);
    this.#requireSettings(name);
    if (!this.#defaults.includes(known)) return known;
    throw new HttpError(
      'wrong-state',
      this.kind.words?.isDefault?.(name) ?? `${name} is a default and cannot be changed`,
    );
  }

  /** Throws an HttpError if the name is taken. For some kinds, case does not matter. */
  assertFree(name: string): void {
    const names = [...this.listConfigured(), ...this.listStored()].map((one) => one.name);
    const taken = names.find((one) => this.#toKey(one) === this.#toKey(name));
    if (taken !== undefined) throw this.#toTaken(taken);
  }

  /**
   * Returns the setting that a value would result in, without storing it. Throws an HttpError if the setting could not
   * be stored.
   */
  try(name: string, value: Stored): Known {
    this.kind.assertName?.(name);
    let known: Known;
    try {
      known = this.kind.compile({ name, value, version: 0, by: '', at: 0, createdAt: 0 });
    } catch (error) {
      throw error instanceof HttpError ? error : new HttpError('invalid', (error as Error).message);
    }
    this.#parts.check?.(known, this);
    return known;
  }

  /** Reads changes made by other instances immediately. */
  async catchUp(): Promise<void> {
    await this.#settings.catchUp();
  }

  /** Creates a setting. Rejects with an HttpError if it is unusable or its name is taken. */
  async create(name: string, value: Stored, by: string): Promise<Known> {
    this.try(name, value);
    this.assertFree(name);
    return this.store(name, value, by, [0]).catch((error) => {
      throw error instanceof StoreConflict ? this.#toTaken(name) : error;
    });
  }

  /** Replaces a runtime setting. Rejects with an HttpError if the setting does not exist. */
  async replace(name: string, value: Stored, by: string, expected?: readonly number[]): Promise<Known> {
    this.requireRuntime(name);
    return this.#storeUsable(name, value, by, expected);
  }

  /** Creates or replaces a setting. Rejects with an HttpError if the setting is unusable or defined elsewhere. */
  async put(name: string, given: Given, by: string, expected?: readonly number[]): Promise<Known> {
    const { complete } = this.kind;
    const settings = this.#requireSettings(name);
    this.kind.assertName?.(name);
    // Without `complete`, the body already has the stored form.
    if (!complete) return this.#storeUsable(name, given as unknown as Stored, by, expected);
    const attempt = async (): Promise<Known> => {
      await settings.catchUp();
      const version = this.findStored(name)?.version ?? 0;
      if (version === 0) this.assertFree(name);
      // This check comes first, because the rest of the request may refer to another version.
      if (expected && !expected.includes(version)) throw this.#toConflict(name, version);
      const value = complete(given, { name, known: this.find(name), stored: this.findStored(name)?.value });
      this.try(name, value);
      // The completed value must not be based on a version that has been replaced.
      return this.#put(name, value, by, [version]);
    };
    const known = await this.#serially(() =>
      attempt().catch((error) => {
        // Another instance has changed the setting in the meantime, and the request allows any version.
        if (expected || !(error instanceof StoreConflict)) throw error;
        return attempt();
      }),
    );
    await this.#applied;
    return known;
  }

  /** Stores a setting without checking it. For changes that the feature has checked, or that only end a setting. */
  async store(
    name: string,
    value: Stored,
    by: string,
    expected?: readonly number[],
    options: PutOptions = this.#limits,
  ): Promise<Known> {
    const known = await this.#put(name, value, by, expected, options);
    await this.#applied;
    return known;
  }

  /**
   * Deletes a setting. Resolves to false if no setting has the name. Rejects with an HttpError for a setting in the
   * config file.
   */
  async delete(name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    const settings = this.#requireSettings(name);
    const stored = this.findStored(name);
    if (stored) this.#parts.checkDeletion?.(name);
    const label = stored && this.#toLabel(stored.value);
    const isDeleted = await settings.delete(this.kind.name, name, by, expected, label);
    await this.#applied;
    return isDeleted;
  }

  async #put(
    name: string,
    value: Stored,
    by: string,
    expected?: readonly number[],
    options: PutOptions = this.#limits,
  ): Promise<Known> {
    const settings = this.#requireSettings(name);
    const label = this.#toLabel(value);
    return this.kind.compile(await settings.put(this.kind.name, name, value, by, expected, { ...options, label }));
  }

  async #storeUsable(name: string, value: Stored, by: string, expected?: readonly number[]): Promise<Known> {
    this.try(name, value);
    return this.store(name, value, by, expected);
  }

  /**
   * Returns the store for the setting with a name. Throws StoreUnavailable while the store cannot be used, and an
   * HttpError if the name is unusable.
   */
  #requireSettings(name: string): SettingStore {
    const { noun, isReserved, words } = this.kind;
    if (this.#configured.has(this.#toKey(name))) {
      const message = `${noun} ${name} is defined in the config file: edit it there`;
      throw new HttpError('wrong-state', words?.inConfig?.(name) ?? message);
    }
    if (isReserved?.(name)) {
      throw new HttpError('wrong-state', `${noun} ${name} is built in: choose another name`);
    }
    return this.#settings;
  }

  get #limits(): PutOptions {
    const { limits, isCaseless = false } = this.kind;
    const { count, plural, advice, characters, withConfigured = false } = limits;
    const others = withConfigured ? this.#configured.size : 0;
    return {
      limit: {
        count: Math.max(0, count - others),
        plural: others > 0 ? `${plural} in addition to the config file` : plural,
        ...(advice !== undefined && { advice }),
      },
      ...(characters !== undefined && { characters }),
      isCaseless,
    };
  }

  /**
   * Compiles changed settings. The order of settings is stable, so unchanged settings are recognized by their position.
   */
  #compileAll(): void {
    const before = this.#results;
    let at = 0;
    this.#results = this.listStored().map((setting) => {
      while (at < before.length && before[at]?.name !== setting.name) at += 1;
      const result = before[at];
      at += 1;
      return result?.version === setting.version ? result : this.#compile(setting);
    });
    const broken = this.#results.flatMap(({ name, reason }) => {
      if (reason === undefined) return [];
      const value = this.findStored(name)?.value;
      return [[name, { reason, label: value === undefined ? undefined : this.#toLabel(value) }] as const];
    });
    this.#settings.noteBroken(this.kind.name, new Map(broken));
    this.#runtime = this.#results.flatMap(({ name, known }) =>
      known === undefined || this.#configured.has(this.#toKey(name)) ? [] : [known],
    );
  }

  #compile(setting: RuntimeSetting<Stored>): CompileResult<Known> {
    const { name, version } = setting;
    try {
      const known = this.kind.compile(setting);
      return { name, version, known, reason: this.kind.findProblem?.(known) };
    } catch (error) {
      this.#parts.onUnusable?.(name, error as Error);
      return { name, version, known: undefined, reason: (error as Error).message };
    }
  }

  /** Returns the label of a value. Undefined for a kind without labels, and for a broken value. */
  #toLabel(value: Stored): string | undefined {
    try {
      return this.kind.toLabel?.(value);
    } catch {
      return undefined;
    }
  }

  #setConfigured(configured: readonly Configured[], at: number): void {
    const { fromConfig } = this.kind;
    const known = fromConfig
      ? configured.map((one) => fromConfig(one, { at, before: this.#configured.get(this.#toKey(one.name)) }))
      : [];
    this.#configured = new Map(known.map((one) => [this.#toKey(one.name), one]));
    this.#isStale = true;
  }

  #callListeners(): void {
    this.#applied = Promise.all(this.#listeners.map((listener) => listener()));
  }

  #toKey(name: string): string {
    return this.kind.isCaseless ? name.toLowerCase() : name;
  }

  #toTaken(name: string): HttpError {
    const message = `There is already a ${this.kind.noun.toLowerCase()} ${name}: choose another name`;
    return new HttpError('wrong-state', this.kind.words?.taken?.(name) ?? message);
  }

  #toConflict(name: string, version: number): StoreConflict {
    const message = this.kind.words?.conflict?.(name, version);
    return message === undefined ? toVersionConflict(name, version) : new StoreConflict(message, version);
  }
}
