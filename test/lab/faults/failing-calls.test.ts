import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { cases, isLong, rounds } from '../../support/long.ts';
import { type CallFault, callFaults, shortCount, taskCallFaults } from './support/call-faults.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { type CallRange, runWithFaults } from './support/faulty-life.ts';
import { alerts, type Kept } from './support/kept.ts';
import { tasks } from './support/kept-tasks.ts';
import { requires } from './support/requirements.ts';
import { createTally, type Tally } from './support/tally.ts';

const needs = requires({ programs: ['strace'] });
const modes = ['once', 'three times', 'from then on'] as const;
type Mode = (typeof modes)[number];

/** Number of calls, higher than any server makes. */
const allCalls = 1000;
/** Number of concurrent servers. The long form spends most of its time waiting between recovery attempts. */
const concurrency = isLong ? 3 : 1;

for (const [kept, all] of [[alerts, callFaults] as const, [tasks, taskCallFaults] as const]) {
  test(`no acknowledged ${kept.what} is lost when any system call fails, and the server starts again`, {
    ...needs,
    concurrency,
  }, async (t) => {
    const total = createTally(`failing calls, ${kept.what}s`);
    const faults = cases(all, shortCount);
    const tests = faults.flatMap((fault, index) =>
      // The short form runs only one mode per fault.
      modes
        .filter((_, place) => isLong || place === index % modes.length)
        .map((mode) =>
          t.test(`${fault.what}, ${mode}`, (part) => failOneAfterTheOther(part, kept, { fault, mode, total })),
        ),
    );
    await Promise.all(tests);
    total.print(t);
  });
}

interface Failing {
  fault: CallFault;
  mode: Mode;
  total: Tally;
}

/** Starts servers in which the first call fails, then the second, and so on, until a server makes no further call. */
const failOneAfterTheOther = async (t: TestContext, kept: Kept, { fault, mode, total }: Failing): Promise<void> => {
  const folder = createTemporaryFolder(t);
  const tally = createTally(`${kept.what}s, ${fault.what}, ${mode}`);
  const first = isLong ? 1 : fault.at;
  const last = first - 1 + rounds(1, allCalls);
  for (let n = first; n <= last; n++) {
    const place = join(folder, String(n));
    mkdirSync(place);
    const { isHit, verdict, wrong } = await runWithFaults(place, kept, fault, toCallRange(mode, n));
    if (!isHit && (isLong || n > first)) break;
    assert.ok(isHit, 'no call has failed');
    tally.add(verdict, wrong);
    total.add(verdict, wrong);
    const { lost, duplicated, misplaced } = verdict;
    assert.deepEqual(
      { lost, duplicated, misplaced, wrong },
      { lost: [], duplicated: [], misplaced: [], wrong: 0 },
      `call ${n}`,
    );
    rmSync(place, { recursive: true });
  }
  tally.print(t);
};

const toCallRange = (mode: Mode, n: number): CallRange => {
  const when = { once: `${n}`, 'three times': `${n}..${n + 2}`, 'from then on': `${n}+` };
  return { when: when[mode], lasts: mode === 'from then on' };
};
