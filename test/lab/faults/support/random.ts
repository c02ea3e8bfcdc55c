import type { TestContext } from 'node:test';

const { SIGNALBOX_FAULT_SEED: asked } = process.env;

/** Creates random numbers from 0 to 1 from a seed, which is printed and can be set by SIGNALBOX_FAULT_SEED. */
export const createRandom = (t: TestContext): (() => number) => {
  const seed = asked ? Number(asked) : Date.now() % 2 ** 32;
  t.diagnostic(`SIGNALBOX_FAULT_SEED=${seed}`);
  // mulberry32, by Tommy Ettinger, in the public domain
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
