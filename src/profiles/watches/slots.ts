/** Runs so many steps at a time, of which half may be slow ones, so that those delay no others. */
export class Slots {
  readonly #count: number;
  #running = 0;
  #slow = 0;
  readonly #waiting: { isSlow: boolean; begin(): void }[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  async run<T>(step: () => Promise<T>, isSlow = false): Promise<T> {
    await this.#take(isSlow);
    try {
      return await step();
    } finally {
      this.#running -= 1;
      if (isSlow) this.#slow -= 1;
      this.#beginNext();
    }
  }

  #take(isSlow: boolean): Promise<void> | undefined {
    if (this.#hasRoom(isSlow)) return this.#begin(isSlow);
    return new Promise((resolve) => {
      this.#waiting.push({
        isSlow,
        begin: () => {
          this.#begin(isSlow);
          resolve();
        },
      });
    });
  }

  #hasRoom(isSlow: boolean): boolean {
    return this.#running < this.#count && (!isSlow || this.#slow < Math.ceil(this.#count / 2));
  }

  #begin(isSlow: boolean): undefined {
    this.#running += 1;
    if (isSlow) this.#slow += 1;
  }

  #beginNext(): void {
    const index = this.#waiting.findIndex(({ isSlow }) => this.#hasRoom(isSlow));
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.begin();
  }
}
