import type { TestContext } from 'node:test';
import { amount } from '../../../support/long.ts';

const { SIGNALBOX_FAULT_ROUNDS: asked } = process.env;

/** Number of faults that share servers and instances. With more faults, the lists would become long. */
const together = 10;

/** Number of faults. SIGNALBOX_FAULT_ROUNDS overrides it. */
const rounds = asked ? Number(asked) : amount(1, 10);

/** Runs groups of rounds. Each group is a separate test that gets its number of rounds. */
export const runGroups = async (
  t: TestContext,
  run: (t: TestContext, count: number) => Promise<void>,
): Promise<void> => {
  for (let done = 0; done < rounds; done += together) {
    const count = Math.min(together, rounds - done);
    await t.test(`rounds ${done + 1} to ${done + count}`, (group) => run(group, count));
  }
};
