import { priorities, statuses } from './schema.ts';

/** Choices that the seed determines (mulberry32), so that what failed can be done again. */
export const createRandom = (seed: number) => {
  let state = seed;
  /** From 0 up to 1. */
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

/** Texts of all kinds; one in fifty is `longest` characters long. */
const createText = ({ next, pick }: Random, longest: number): string =>
  pick(['x', 'ä', '"\\\n', '漢😀', '\u0000']) + 'y'.repeat(next() < 0.02 ? longest : 2);

/** The fields of a task, some of them or all. */
export const createFields = (random: Random, longest: number) => {
  const { maybe, pick } = random;
  const fields = {
    Title: createText(random, 0),
    Description: maybe(() => createText(random, longest)),
    Priority: maybe(() => pick(priorities)),
    Status: maybe(() => pick(statuses)),
  };
  return JSON.parse(JSON.stringify(fields)) as { Title: string };
};

/** A filter, now and then for a value that there is not. */
export const createFilter = ({ maybe, pick }: Random) => ({
  status: maybe(() => pick([...statuses, 'Done'])),
  priority: maybe(() => pick([...priorities, 'low'])),
});
