import type { TestContext } from 'node:test';
import { rounds } from '../../../support/long.ts';

/** Number of faults that share servers and instances. With more faults, the lists would become long. */
const together = 10;

const total = rounds(1, 10);

/** Runs groups of rounds. Each group is a separate test that gets its number of rounds. */
export const runGroups = async (
  t: TestContext,
  run: (t: TestContext, count: number) => Promise<void>,
): Promise<void> => {
  for (let done = 0; done < total; done += together) {
    const count = Math.min(together, total - done);
    await t.test(`rounds ${done + 1} to ${done + count}`, (group) => run(group, count));
  }
};
