import type { TestContext } from 'node:test';
import type { Verdict } from './compare.ts';

/** Totals over all rounds of a fault test. */
export interface Tally {
  rounds: number;
  acknowledged: number;
  lost: number;
  duplicated: number;
  misplaced: number;
  /** Number of premature or wrong 200 responses. */
  wrong: number;
  /** Adds a round. */
  add(verdict: Verdict, wrong?: number): void;
  /** Prints the totals in one line. */
  print(t: TestContext): void;
}

export const createTally = (what: string): Tally => {
  const startedAt = performance.now();
  return {
    rounds: 0,
    acknowledged: 0,
    lost: 0,
    duplicated: 0,
    misplaced: 0,
    wrong: 0,
    add({ acknowledged, lost, duplicated, misplaced }, wrong = 0) {
      this.rounds++;
      this.acknowledged += acknowledged;
      this.lost += lost.length;
      this.duplicated += duplicated.length;
      this.misplaced += misplaced.length;
      this.wrong += wrong;
    },
    print(t) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
      t.diagnostic(
        `${what}: ${this.rounds} rounds, ${this.acknowledged} acknowledged, ${this.lost} lost, ` +
          `${this.duplicated} duplicated, ${this.misplaced} out of order, ` +
          `${this.wrong} wrong acknowledgements, ${seconds} s`,
      );
    },
  };
};
