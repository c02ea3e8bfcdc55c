/** A wait that can be ended early. */
export class Wakeup {
  #end: (() => void) | undefined;

  /** Resolves after so many milliseconds, or when it is woken. */
  sleep(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => this.wake(), ms);
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  wake(): void {
    this.#end?.();
    this.#end = undefined;
  }
}
