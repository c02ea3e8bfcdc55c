/** Cache of values that are created on first use. Beyond `max` values, the least recently used value is dropped. */
export class RecentValues<T> {
  readonly #values = new Map<string, T>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, create: () => T): T {
    const value = this.#values.has(key) ? (this.#values.get(key) as T) : create();
    this.#values.delete(key);
    this.#values.set(key, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#max) break;
      this.#values.delete(oldest);
    }
    return value;
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
