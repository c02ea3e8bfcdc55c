/** How long a key is remembered, and how many are. */
export const rememberedMs = 24 * 60 * 60 * 1000;
export const rememberedCount = 100_000;

/** What is remembered of a key. */
export interface Remembered {
  /** Milliseconds since 1970. */
  storedAt: number;
}

/** Values by key, for 24 hours after they were stored and as long as there are not 100,000 newer ones. */
export class RecentKeys<T extends Remembered> {
  readonly #clock: () => Date;
  /** Once the newer half is full, it becomes the older one: to delete the oldest of a Map one by one is slow. */
  #newer = new Map<string, T>();
  #older = new Map<string, T>();

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  find(key: string): T | undefined {
    const known = this.#newer.get(key) ?? this.#older.get(key);
    return known && this.isRecent(known.storedAt) ? known : undefined;
  }

  remember(key: string, value: T): void {
    if (this.#newer.size >= rememberedCount / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  isRecent(storedAt: number): boolean {
    return this.#clock().getTime() - storedAt < rememberedMs;
  }

  /** Those that are remembered, older ones first. */
  *entries(): Generator<[key: string, value: T]> {
    for (const half of [this.#older, this.#newer]) {
      for (const [key, value] of half) if (this.isRecent(value.storedAt)) yield [key, value];
    }
  }
}
