import { HttpError, requireKnown } from '../http/errors.ts';
import { StoreUnavailable } from '../lib/expected-errors.ts';
import type { BrokenReason, PutOptions, RuntimeSetting, SettingStore } from './offers.ts';

interface CompiledParts<Stored, Compiled> {
  /** Undefined where nothing can be made at run time. */
  settings: SettingStore | undefined;
  kind: string;
  /** Throws an Error for one that cannot be used. */
  compile(setting: RuntimeSetting<Stored>): Compiled;
  /** Why this version cannot read one that is listed all the same. */
  findProblem?(compiled: Compiled): string | undefined;
  /** Gets the error of one that cannot be used, once: another version may have stored it. */
  onUnusable(name: string, error: Error): void;
}

interface CompileResult<Compiled> {
  name: string;
  version: number;
  compiled: Compiled | undefined;
  /** Why it cannot be used. */
  reason: string | undefined;
}

/** The settings of a kind that can be used; the others, for which `findProblem` returns a reason or throws, are noted as broken. */
export const pickUsable = <Stored>(
  settings: Pick<SettingStore, 'list' | 'noteBroken'>,
  kind: string,
  findProblem: (setting: RuntimeSetting<Stored>) => string | undefined,
): RuntimeSetting<Stored>[] => {
  const reasons = new Map<string, BrokenReason>();
  const usable = settings.list<Stored>(kind).filter((setting) => {
    const reason = explain(() => findProblem(setting));
    if (reason !== undefined) reasons.set(setting.name, { reason, label: undefined });
    return reason === undefined;
  });
  settings.noteBroken(kind, reasons);
  return usable;
};

const explain = (findProblem: () => string | undefined): string | undefined => {
  try {
    return findProblem();
  } catch (error) {
    return (error as Error).message;
  }
};

/** The settings made at run time of one kind, as their feature uses them: each compiled when it is first needed after a change. */
export class CompiledSettings<Stored, Compiled> {
  protected readonly settings: SettingStore | undefined;
  readonly #parts: CompiledParts<Stored, Compiled>;
  #results: readonly CompileResult<Compiled>[] = [];
  #list: readonly Compiled[] = [];
  #isStale = true;

  constructor(parts: CompiledParts<Stored, Compiled>) {
    this.settings = parts.settings;
    this.#parts = parts;
    this.settings?.onChanged(parts.kind, () => {
      this.#isStale = true;
    });
  }

  get isChangeable(): boolean {
    return this.settings !== undefined;
  }

  onChanged(listener: () => void): void {
    this.settings?.onChanged(this.#parts.kind, listener);
  }

  /** Those that can be used, oldest first: the same list until one has changed. */
  list(): readonly Compiled[] {
    if (!this.#isStale) return this.#list;
    this.#isStale = false;
    const { kind } = this.#parts;
    const before = this.#results;
    let at = 0;
    this.#results = (this.settings?.list<Stored>(kind) ?? []).map((setting) => {
      // Settings keep their order, so that of thousands only the changed one is looked at.
      while (at < before.length && before[at]?.name !== setting.name) at += 1;
      const known = before[at];
      at += 1;
      return known?.version === setting.version ? known : this.#compile(setting);
    });
    const reasons = new Map<string, BrokenReason>();
    const list: Compiled[] = [];
    for (const { name, compiled, reason } of this.#results) {
      if (compiled !== undefined) list.push(compiled);
      if (reason !== undefined) reasons.set(name, { reason, label: undefined });
    }
    this.settings?.noteBroken(kind, reasons);
    this.#list = list;
    return list;
  }

  /** Where one of this name is stored. @throws StoreUnavailable or an HttpError where it cannot be */
  protected requireSettings(_name: string): SettingStore {
    if (this.settings) return this.settings;
    throw new StoreUnavailable('Settings are not mounted');
  }

  #compile(setting: RuntimeSetting<Stored>): CompileResult<Compiled> {
    const { name, version } = setting;
    try {
      const compiled = this.#parts.compile(setting);
      return { name, version, compiled, reason: this.#parts.findProblem?.(compiled) };
    } catch (error) {
      this.#parts.onUnusable(name, error as Error);
      return { name, version, compiled: undefined, reason: (error as Error).message };
    }
  }
}

interface MergedParts<Stored, Known> extends CompiledParts<Stored, Known> {
  configured: readonly Known[];
  /** What messages call one, with a capital letter. */
  noun: string;
  /** Where all are listed. */
  path: string;
  /** How many there can be. */
  most: number;
  /** The same for names that count as one; by default the name. */
  toKey?(name: string): string;
}

/** What keepers of such settings get. */
export type KeeperParts<Configured> = Pick<CompiledParts<never, never>, 'settings' | 'onUnusable'> & {
  configured: readonly Configured[];
};

/** All settings of one kind: those of the config file, and those that people have made with other names. */
export class MergedSettings<Stored, Known extends { name: string }> extends CompiledSettings<Stored, Known> {
  readonly #parts: MergedParts<Stored, Known>;
  #configured: ReadonlyMap<string, Known>;
  readonly #listeners: (() => void)[] = [];
  /** Those made at run time that are indexed; undefined where the config file has changed since. */
  #indexed: readonly Known[] | undefined;
  #byName: ReadonlyMap<string, Known> = new Map();
  #sorted: readonly Known[] = [];

  constructor(parts: MergedParts<Stored, Known>) {
    super(parts);
    this.#parts = parts;
    this.#configured = this.#toKeyed(parts.configured);
  }

  /** Those of the config file, in its order. */
  protected get configured(): readonly Known[] {
    return [...this.#configured.values()];
  }

  protected setConfigured(configured: readonly Known[]): void {
    this.#configured = this.#toKeyed(configured);
    this.#indexed = undefined;
    for (const listener of this.#listeners) listener();
  }

  /** Those made at run time, oldest first. */
  protected get made(): readonly Known[] {
    return super.list().filter(({ name }) => !this.#configured.has(this.#toKey(name)));
  }

  override onChanged(listener: () => void): void {
    this.#listeners.push(listener);
    super.onChanged(listener);
  }

  /** By name: the same list until one has changed. */
  override list(): readonly Known[] {
    this.#index();
    return this.#sorted;
  }

  find(name: string): Known | undefined {
    this.#index();
    return this.#byName.get(name);
  }

  /** @throws HttpError if there is none */
  require(name: string): Known {
    return requireKnown(this.find(name), this.#parts.noun, name, this.#parts.path);
  }

  /** Resolves to whether there was one. Rejects with an HttpError. */
  async delete(name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    return this.requireSettings(name).delete(this.#parts.kind, name, by, expected);
  }

  protected override requireSettings(name: string): SettingStore {
    const settings = super.requireSettings(name);
    if (!this.#configured.has(this.#toKey(name))) return settings;
    throw new HttpError('wrong-state', `${this.#parts.noun} ${name} is in the config file: change it there`);
  }

  /** For settings made at run time, beside those of the config file. */
  protected get limits(): PutOptions {
    const { noun, most, toKey } = this.#parts;
    const plural = `${noun.toLowerCase()}s${this.configured.length > 0 ? ' beside those of the config file' : ''}`;
    return { most: { count: Math.max(0, most - this.#configured.size), plural }, isCaseless: toKey !== undefined };
  }

  #index(): void {
    const made = super.list();
    if (made === this.#indexed) return;
    this.#indexed = made;
    this.#sorted = [...this.made, ...this.configured].sort((one, other) => (one.name < other.name ? -1 : 1));
    this.#byName = new Map(this.#sorted.map((one) => [one.name, one]));
  }

  #toKeyed(configured: readonly Known[]): ReadonlyMap<string, Known> {
    return new Map(configured.map((one) => [this.#toKey(one.name), one]));
  }

  #toKey(name: string): string {
    return this.#parts.toKey?.(name) ?? name;
  }
}
