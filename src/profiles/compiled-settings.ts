import type { MadeSetting, SettingStore } from './offers.ts';

interface CompiledParts<Stored, Compiled> {
  /** Undefined where nothing can be made at run time. */
  settings: SettingStore | undefined;
  kind: string;
  /** Throws an Error for one that cannot be used. */
  compile(setting: MadeSetting<Stored>): Compiled;
  /** Gets the error of one that cannot be used, once: another version may have stored it. */
  onUnusable(name: string, error: Error): void;
}

/** The settings made at run time of one kind, as their feature uses them: each compiled when it is first needed after a change. */
export class CompiledSettings<Stored, Compiled> {
  readonly #parts: CompiledParts<Stored, Compiled>;
  #known = new Map<string, { version: number; compiled: Compiled | undefined }>();
  #list: readonly Compiled[] = [];
  #isStale = true;

  constructor(parts: CompiledParts<Stored, Compiled>) {
    this.#parts = parts;
    parts.settings?.onChanged(parts.kind, () => {
      this.#isStale = true;
    });
  }

  onChanged(listener: () => void): void {
    this.#parts.settings?.onChanged(this.#parts.kind, listener);
  }

  /** Those that can be used, oldest first: the same list until one has changed. */
  list(): readonly Compiled[] {
    if (!this.#isStale) return this.#list;
    this.#isStale = false;
    const { settings, kind } = this.#parts;
    const before = this.#known;
    this.#known = new Map();
    for (const setting of settings?.list<Stored>(kind) ?? []) {
      const { name, version } = setting;
      const known = before.get(name);
      this.#known.set(name, known?.version === version ? known : { version, compiled: this.#compile(setting) });
    }
    this.#list = [...this.#known.values()].flatMap(({ compiled }) => (compiled === undefined ? [] : [compiled]));
    return this.#list;
  }

  #compile(setting: MadeSetting<Stored>): Compiled | undefined {
    try {
      return this.#parts.compile(setting);
    } catch (error) {
      this.#parts.onUnusable(setting.name, error as Error);
      return undefined;
    }
  }
}
