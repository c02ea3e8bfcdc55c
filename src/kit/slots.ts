interface SlotsOptions {
  /** Milliseconds for which a step keeps its place while others wait; 1,000 by default. */
  keptMs?: number;
  /** Maximum running steps, with or without a place; ten times `count` by default. */
  most?: number;
}

/**
 * Runs `count` steps at a time. A step that takes longer than `keptMs` gives its place to another, so that it delays no others.
 */
export class Slots {
  readonly #count: number;
  readonly #keptMs: number;
  readonly #most: number;
  /** Steps with a place. */
  #placed = 0;
  /** Steps that run, with or without a place. */
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number, { keptMs = 1000, most = 10 * count }: SlotsOptions = {}) {
    this.#count = count;
    this.#keptMs = keptMs;
    this.#most = most;
  }

  async run<T>(step: () => Promise<T>): Promise<T> {
    if (!this.#hasRoom()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#placed += 1;
    this.#running += 1;
    let isPlaced = true;
    const leave = (): void => {
      if (isPlaced) this.#placed -= 1;
      isPlaced = false;
      this.#beginNext();
    };
    const timer = setTimeout(leave, this.#keptMs);
    try {
      return await step();
    } finally {
      clearTimeout(timer);
      this.#running -= 1;
      leave();
    }
  }

  #hasRoom(): boolean {
    return this.#placed < this.#count && this.#running < this.#most;
  }

  #beginNext(): void {
    if (this.#hasRoom()) this.#waiting.shift()?.();
  }
}
