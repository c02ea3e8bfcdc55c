import { basename } from 'node:path';
import fc from 'fast-check';

const { SIGNALBOX_TEST_SEED: asked } = process.env;

/** Seed of all random choices in a test file: `SIGNALBOX_TEST_SEED`, or a new number. A new number is printed. */
const seed = asked === undefined ? Date.now() % 2 ** 31 : Number(asked);

process.stdout.write(`${basename(process.argv[1] ?? '')}: SIGNALBOX_TEST_SEED=${seed}\n`);
fc.configureGlobal({ seed });

/** fast-check, configured with the seed. */
export { fc };

/** Creates choices that the seed determines. */
export const createRandom = (start = seed) => {
  // mulberry32, by Tommy Ettinger, in the public domain.
  let state = start;
  /** Returns a number from 0 up to, but not including, 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0];
  const maybe = <T>(value: () => T): T | undefined => (next() < 0.6 ? value() : undefined);
  return { next, below, pick, maybe };
};

export type Random = ReturnType<typeof createRandom>;
