interface SlotsOptions {
  /** Milliseconds after which a running step loses its slot. Default: 1,000. */
  keptMs?: number;
  /** Maximum number of running steps, with or without a slot. Default: ten times `count`. */
  max?: number;
}

/** Runs `count` steps at a time. A step that takes longer than `keptMs` passes its slot on to the next step. */
export class Slots {
  readonly #count: number;
  readonly #keptMs: number;
  readonly #max: number;
  /** Number of running steps with a slot. */
  #placed = 0;
  /** Total number of running steps. */
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number, { keptMs = 1000, max = 10 * count }: SlotsOptions = {}) {
    this.#count = count;
    this.#keptMs = keptMs;
    this.#max = max;
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
    return this.#placed < this.#count && this.#running < this.#max;
  }

  #beginNext(): void {
    if (this.#hasRoom()) this.#waiting.shift()?.();
  }
}
