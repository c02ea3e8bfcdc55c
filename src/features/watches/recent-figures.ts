/** Maximum number of steps kept per thing. */
const maxSteps = 120;

/** Minimum and maximum length of a step, in milliseconds. */
const minStepMs = 15_000;
const maxStepMs = 240_000;

interface Reading {
  figure?: number | undefined;
  /** True if the limit was reached. Undefined if the check failed. */
  isBad?: boolean | undefined;
}

/**
 * Readings of a thing over the last hours. Each step has its worst reading. Times are milliseconds on a monotonic
 * clock. When the list is full, steps are merged in pairs. A step lasts from 15 s to 4 min, so 120 steps cover up to 8
 * hours.
 */
export class RecentFigures {
  readonly #pick: PickWorst;
  readonly #maxStepMs: number;
  #stepMs = minStepMs;
  /** Number of the first step. Steps are counted from time 0. */
  #first = 0;
  /** Figures by step. NaN stands for a step without a figure. */
  #figures: number[] = [];
  /** Per step: 1 if the limit was reached, 0 if not, NaN without a check. Numbers take the least memory. */
  #bad: number[] = [];

  /**
   * Creates an empty list. `everyMs` is the number of milliseconds between two checks. A step is long enough for at
   * least one check.
   */
  constructor(everyMs: number, isLowBad: boolean) {
    this.#pick = isLowBad ? Math.min : Math.max;
    while (this.#stepMs < everyMs * 1.5) this.#stepMs *= 2;
    this.#maxStepMs = Math.max(maxStepMs, this.#stepMs);
  }

  add(at: number, { figure = Number.NaN, isBad }: Reading): void {
    const step = Math.floor(at / this.#stepMs);
    const isFar = step < this.#first || step - this.#first >= 2 * maxSteps;
    if (this.#figures.length === 0 || isFar) {
      this.#first = step;
      [this.#figures, this.#bad] = [[], []];
    }
    this.#put(step - this.#first, figure, isBad);
    while (this.#figures.length > maxSteps && this.#stepMs < this.#maxStepMs) this.#merge();
    const excess = this.#figures.length - maxSteps;
    if (excess <= 0) return;
    for (const values of [this.#figures, this.#bad]) values.splice(0, excess);
    this.#first += excess;
  }

  /** Lists the steps, oldest first. Unknown values are null. `start` is a time on the clock passed to `add`. */
  list(): { start: number; stepMs: number; figures: (number | null)[]; bad: (boolean | null)[] } {
    return {
      start: this.#first * this.#stepMs,
      stepMs: this.#stepMs,
      figures: this.#figures.map((figure) => (Number.isNaN(figure) ? null : figure)),
      bad: this.#bad.map((bad) => (Number.isNaN(bad) ? null : bad === 1)),
    };
  }

  #put(index: number, figure: number, isBad: boolean | undefined): void {
    while (this.#figures.length <= index) {
      this.#figures.push(Number.NaN);
      this.#bad.push(Number.NaN);
    }
    this.#figures[index] = pickKnown(this.#pick, this.#figures[index], figure);
    this.#bad[index] = pickKnown(Math.max, this.#bad[index], isBad === undefined ? Number.NaN : Number(isBad));
  }

  #merge(): void {
    // Pairs begin at even numbers.
    const offset = this.#first % 2;
    const merge = (values: readonly number[], pick: PickWorst): number[] =>
      Array.from({ length: Math.ceil((values.length + offset) / 2) }, (_, index) =>
        pickKnown(pick, values[2 * index - offset], values[2 * index + 1 - offset]),
      );
    this.#figures = merge(this.#figures, this.#pick);
    this.#bad = merge(this.#bad, Math.max);
    this.#first = (this.#first - offset) / 2;
    this.#stepMs *= 2;
  }
}

type PickWorst = (...figures: number[]) => number;

/** Returns the worse of two figures. Either may be unknown. */
const pickKnown = (pick: PickWorst, one = Number.NaN, other = Number.NaN): number => {
  if (Number.isNaN(one)) return other;
  return Number.isNaN(other) ? one : pick(one, other);
};
