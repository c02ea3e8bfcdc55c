import { MiB } from '../lib/units.ts';
/** How long a key is remembered, how many are, and characters of their values. */
export const rememberedMs = 24 * 60 * 60 * 1000;
export const rememberedCount = 100_000;
const rememberedLength = 32 * MiB;

/** What is remembered of a key. */
export interface Remembered {
  /** Milliseconds since 1970. */
  storedAt: number;
}

/**
 * Values by key, for 24 hours or `keptMs` after they were stored, and as long as newer ones are at most half of `count` with
 * 16 Mi characters.
 */
export class RecentKeys<T extends Remembered> {
  readonly #clock: () => Date;
  readonly #keptMs: number;
  readonly #count: number;
  /** Once the newer half is full, it becomes the older one: to delete the oldest of a Map one by one is slow. */
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

  /** `length` is about that of the value's texts, where it has long ones. */
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

  /** Those that are remembered, older ones first. */
  *entries(): Generator<[key: string, value: T]> {
    for (const half of [this.#older, this.#newer]) {
      for (const [key, value] of half) {
        const isLast = half === this.#newer || !this.#newer.has(key);
        if (isLast && this.isRecent(value.storedAt)) yield [key, value];
      }
    }
  }
}
