/** How much is kept of each thing, and for how long each of its steps is at first and in the end. */
const mostSteps = 120;
const firstStepMs = 15_000;
const longestStepMs = 240_000;

/** What a check has found. */
interface Found {
  figure?: number | undefined;
  /** Undefined where nothing could be checked. */
  isBad?: boolean | undefined;
}

/**
 * What a thing was like in the last hours: the worst of each step of time. Times are milliseconds of a clock that nobody
 * sets. When there are too many steps, two become one, from 15 s up to 4 min: what is young is shown finer, and all of it is
 * 8 hours.
 */
export class RecentFigures {
  readonly #pick: PickWorst;
  readonly #longestMs: number;
  #stepMs = firstStepMs;
  /** The number of the first step, counted from 0. */
  #first = 0;
  /** NaN where there was no number. */
  #figures: number[] = [];
  /** 1 if the limit was reached, NaN where nothing was checked: numbers need the least memory. */
  #bad: number[] = [];

  /** `everyMs`: between two checks, of which each step has at least one. */
  constructor(everyMs: number, isLowBad: boolean) {
    this.#pick = isLowBad ? Math.min : Math.max;
    while (this.#stepMs < everyMs * 1.5) this.#stepMs *= 2;
    this.#longestMs = Math.max(longestStepMs, this.#stepMs);
  }

  add(at: number, { figure = Number.NaN, isBad }: Found): void {
    const step = Math.floor(at / this.#stepMs);
    const isFar = step < this.#first || step - this.#first >= 2 * mostSteps;
    if (this.#figures.length === 0 || isFar) {
      this.#first = step;
      [this.#figures, this.#bad] = [[], []];
    }
    this.#put(step - this.#first, figure, isBad);
    while (this.#figures.length > mostSteps && this.#stepMs < this.#longestMs) this.#halve();
    const excess = this.#figures.length - mostSteps;
    if (excess <= 0) return;
    for (const values of [this.#figures, this.#bad]) values.splice(0, excess);
    this.#first += excess;
  }

  /** The steps so far, oldest first; null stands for unknown. `start` is in the milliseconds of the clock that `add` has. */
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

  #halve(): void {
    // Two that become one begin at an even number.
    const offset = this.#first % 2;
    const halve = (values: readonly number[], pick: PickWorst): number[] =>
      Array.from({ length: Math.ceil((values.length + offset) / 2) }, (_, index) =>
        pickKnown(pick, values[2 * index - offset], values[2 * index + 1 - offset]),
      );
    this.#figures = halve(this.#figures, this.#pick);
    this.#bad = halve(this.#bad, Math.max);
    this.#first = (this.#first - offset) / 2;
    this.#stepMs *= 2;
  }
}

/** The worse of figures. */
type PickWorst = (...figures: number[]) => number;

/** Of two figures, one of which may be unknown. */
const pickKnown = (pick: PickWorst, one = Number.NaN, other = Number.NaN): number => {
  if (Number.isNaN(one)) return other;
  return Number.isNaN(other) ? one : pick(one, other);
};
