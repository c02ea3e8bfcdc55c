/** How much is kept of each thing, and for how long each of its steps is at first and in the end. */
const mostSteps = 120;
const firstStepMs = 15_000;
const longestStepMs = 240_000;

/** What the checks within a step have found, the worst of them. */
interface Step {
  /** NaN where there was no number. */
  figure: number;
  /** Undefined where nothing could be checked. */
  isBad: boolean | undefined;
}

const noStep: Step = { figure: Number.NaN, isBad: undefined };

/**
 * What a thing was like in the last hours. Times are milliseconds of a clock that nobody sets. When there are too many
 * steps, two become one, from 15 s up to 4 min: what is young is shown finer, and all of it is 8 hours.
 */
export class RecentFigures {
  readonly #isLowBad: boolean;
  readonly #longestMs: number;
  #stepMs = firstStepMs;
  /** The number of the first step, counted from 0. */
  #first = 0;
  #steps: Step[] = [];

  /** `everyMs`: between two checks, of which each step has at least one. */
  constructor(everyMs: number, isLowBad: boolean) {
    this.#isLowBad = isLowBad;
    while (this.#stepMs < everyMs * 1.5) this.#stepMs *= 2;
    this.#longestMs = Math.max(longestStepMs, this.#stepMs);
  }

  add(at: number, { figure, isBad }: Partial<Step>): void {
    const found = { figure: figure ?? Number.NaN, isBad };
    let index = Math.floor(at / this.#stepMs) - this.#first;
    if (this.#steps.length === 0 || index < 0 || index >= 2 * mostSteps) {
      this.#first += index;
      this.#steps = [found];
      return;
    }
    while (this.#steps.length <= index) this.#steps.push(noStep);
    this.#steps[index] = this.#merge(this.#steps[index] as Step, found);
    while (this.#steps.length > mostSteps && this.#stepMs < this.#longestMs) this.#halve();
    index = this.#steps.length - mostSteps;
    if (index <= 0) return;
    this.#steps.splice(0, index);
    this.#first += index;
  }

  /** The steps so far, oldest first; `start` is in the milliseconds of the clock that `add` has. */
  list(): { start: number; stepMs: number; steps: readonly Step[] } {
    return { start: this.#first * this.#stepMs, stepMs: this.#stepMs, steps: this.#steps };
  }

  #halve(): void {
    if (this.#first % 2 === 1) {
      this.#steps.unshift(noStep);
      this.#first -= 1;
    }
    const steps = this.#steps;
    this.#steps = Array.from({ length: Math.ceil(steps.length / 2) }, (_, index) =>
      this.#merge(steps[2 * index] ?? noStep, steps[2 * index + 1] ?? noStep),
    );
    this.#first /= 2;
    this.#stepMs *= 2;
  }

  #merge(one: Step, other: Step): Step {
    const isBad = one.isBad || other.isBad || (one.isBad ?? other.isBad);
    if (Number.isNaN(one.figure)) return { figure: other.figure, isBad };
    if (Number.isNaN(other.figure)) return { figure: one.figure, isBad };
    const worst = this.#isLowBad ? Math.min : Math.max;
    return { figure: worst(one.figure, other.figure), isBad };
  }
}
