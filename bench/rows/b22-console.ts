import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openBrowser } from '../../test/e2e/browser.ts';
import type { Finding } from '../support/finding.ts';
import { NotMeasurable } from '../support/not-measurable.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Row } from './row.ts';

/** Milliseconds of each reading, and before the first one. */
const readingMs = 10_000;
const settlingMs = 5000;

/** What the program costs when nothing happens, and while one console shows its Overview. No process is pinned. */
export const consoleCost: Row = {
  id: 'B22',
  measure: async ({ scope, rounds }) => {
    const browser = await openBrowser();
    if (!browser) throw new NotMeasurable('no Chromium or Chrome is installed');
    scope.atEnd(() => browser.close());
    const { pid, url } = await startSignalbox(scope, undefined);
    const idle = await measureCost(pid, rounds);
    const page = await browser.newPage({ locale: 'en-GB' });
    await page.goto(`${url}/console/`);
    await page.getByText('Live', { exact: true }).waitFor();
    const open = await measureCost(pid, rounds);
    const share = (work: string, ours: number[], atMost: number): Finding => {
      return { id: 'B22', work: `processor time ${work}`, unit: ' %', ours, goals: [{ of: 'value', atMost }] };
    };
    const wakes = { id: 'B22', work: 'wakeups of the main thread when idle', unit: '/s', ours: idle.wakeups };
    return [
      share('when idle', idle.shares, 0.3),
      { ...wakes, goals: [{ of: 'value', atMost: 1 }] },
      share('with one console open on Overview', open.shares, 1.5),
    ];
  },
};

/** Percent of one processor that the process uses, and wakeups of its main thread per second, in each reading. */
const measureCost = async (pid: number, rounds: number): Promise<{ shares: number[]; wakeups: number[] }> => {
  const measured = { shares: [] as number[], wakeups: [] as number[] };
  await setTimeout(settlingMs);
  for (let round = 0; round < rounds; round += 1) {
    const before = { at: performance.now(), cpuMs: readCpuMs(pid), wakeups: readWakeups(pid) };
    await setTimeout(readingMs);
    const elapsedMs = performance.now() - before.at;
    measured.shares.push(((readCpuMs(pid) - before.cpuMs) / elapsedMs) * 100);
    measured.wakeups.push((readWakeups(pid) - before.wakeups) / (elapsedMs / 1000));
  }
  return measured;
};

/** How often the main thread has gone to sleep, and so been woken. */
const readWakeups = (pid: number): number =>
  Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8'))?.[1]);
