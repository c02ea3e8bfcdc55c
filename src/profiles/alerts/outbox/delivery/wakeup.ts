/** A timer with more milliseconds would end at once. */
const longestMs = 2 ** 31 - 1;

/** A wait that can be ended early. */
export class Wakeup {
  #end: (() => void) | undefined;
  #isWoken = false;

  /** Resolves after so many milliseconds or 24 days, or when it is woken, or at once if it was woken since the last sleep. */
  sleep(ms?: number): Promise<void> {
    if (this.#isWoken) {
      this.#isWoken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => this.wake(), Math.min(ms, longestMs));
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  wake(): void {
    if (this.#end) this.#end();
    else this.#isWoken = true;
    this.#end = undefined;
  }
}
