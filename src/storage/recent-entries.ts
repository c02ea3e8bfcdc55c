import { MiB } from '../lib/units.ts';
/** Milliseconds for which a key is remembered. */
export const rememberedMs = 24 * 60 * 60 * 1000;

/** Maximum number of remembered keys. */
export const rememberedCount = 100_000;

/** Maximum length in characters of all values together. */
const rememberedLength = 32 * MiB;

/** Value of a remembered key. */
export interface Remembered {
  /** Time at which the value was stored, in milliseconds since 1970. */
  storedAt: number;
}

/**
 * Values by key. A value is forgotten after `keptMs`, by default 24 hours. It is also forgotten once more than half of
 * `count` newer values, or newer values with 16 Mi characters, have been added.
 */
export class RecentEntries<T extends Remembered> {
  readonly #clock: () => Date;
  readonly #keptMs: number;
  readonly #count: number;
  /**
   * Newer half of the values. Once full, it becomes the older half. Deleting the oldest entries of a Map one at a time
   * would be slow.
   */
  #newer = new Map<string, T>();
  #older = new Map<string, T>();
  #newerLength = 0;

  constructor(clock: () => Date, { keptMs = rememberedMs, count = rememberedCount } = {}) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#count = count;
  }

  find(key: string): T | undefined {
    const known = this.#newer.get(key) ?? this.#older.get(key);
    return known && this.isRecent(known.storedAt) ? known : undefined;
  }

  /**
   * Remembers a value. `length` is its approximate length in characters, needed only if the value contains long
   * strings.
   */
  remember(key: string, value: T, length = 0): void {
    if (this.#newer.size >= this.#count / 2 || this.#newerLength >= rememberedLength / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerLength = 0;
    }
    this.#newer.set(key, value);
    this.#newerLength += length;
  }

  isRecent(storedAt: number): boolean {
    return this.#clock().getTime() - storedAt < this.#keptMs;
  }

  /** Yields the remembered values, oldest first. */
  *entries(): Generator<[key: string, value: T]> {
    for (const half of [this.#older, this.#newer]) {
      for (const [key, value] of half) {
        const isLast = half === this.#newer || !this.#newer.has(key);
        if (isLast && this.isRecent(value.storedAt)) yield [key, value];
      }
    }
  }
}
