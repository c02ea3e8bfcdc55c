/** How long a step keeps its place while others wait. */
const keptMs = 1000;

/**
 * Runs so many steps at a time. One that takes longer than a second gives its place to another one, so that those that hang
 * delay no others; there are at most ten times as many.
 */
export class Slots {
  readonly #count: number;
  readonly #most: number;
  /** Steps that have a place, and all that run. */
  #placed = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#count = count;
    this.#most = 10 * count;
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
    const timer = setTimeout(leave, keptMs);
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
