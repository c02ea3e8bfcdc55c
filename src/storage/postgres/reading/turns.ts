import { StoreUnavailable } from '../../../expected-errors.ts';

/** Milliseconds that a caller waits for its turn. */
const waitMs = 5000;

/** Lets a number of callers work at the same time, first come first served. */
export class Turns {
  readonly #line: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves to the function that ends the turn, to be called once. Throws StoreUnavailable if none comes in time. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#waitInLine();
    return () => {
      const next = this.#line.shift();
      if (next) next();
      else this.#free += 1;
    };
  }

  #waitInLine(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(begin), 1);
        reject(new StoreUnavailable('Too many lists are being read; try again later'));
      }, waitMs).unref();
      this.#line.push(begin);
    });
  }
}
