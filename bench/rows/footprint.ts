import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openBrowser } from '../../test/e2e/browser.ts';
import {
  createClone,
  createHome,
  findObstacle,
  measureBytes,
  startServer as startClone,
} from '../../test/first-run/clone.ts';
import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { createBare, createJsonServer, type Start } from '../support/opponents.ts';
import { readCpuMs, readResidentMiB, readStatus } from '../support/process-cost.ts';
import { NotMeasurable } from '../support/programs.ts';
import { takeTurns } from '../support/rounds.ts';
import { withScope } from '../support/scope.ts';
import { executable, readMemory, startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Bench, Row } from './row.ts';

/** Pause after the first response before memory is read. */
const idleMs = 1000;

/** Times in milliseconds until the first response, and resident memory a second later, without pinning anything. */
const measureStarts = async ({ scope, rounds }: Bench, starts: readonly Start[], idle = idleMs) => {
  const resident = starts.map((): number[] => []);
  const sides = starts.map(
    (start, side) => () =>
      withScope(scope.folder, async (own) => {
        const { startMs, pid } = await start(own, undefined);
        await setTimeout(idle);
        resident[side]?.push(readResidentMiB(pid));
        return startMs;
      }),
  );
  return { times: await takeTurns(rounds, sides), resident };
};

const footprint: Row = {
  ids: ['B10'],
  measure: async (bench) => {
    const starts = [startSignalbox, createBare('{}'), createJsonServer([])];
    const { times, resident } = await measureStarts(bench, starts);
    const [ours = [], bare = [], json = []] = times;
    const [ofOurs = [], ofBare = [], ofJson = []] = resident;
    const rounds = `${bench.rounds} starts`;
    const start = { id: 'B10', work: 'start to first response', unit: ' ms', ours, rounds };
    const memory = { id: 'B10', work: 'resident memory, idle', unit: ' MiB', ours: ofOurs, rounds };
    const startGoals: Finding['goals'] = [
      { of: 'value', atMost: 400 },
      { of: 'ratio', atMost: 3 },
    ];
    return [
      { ...start, beside: { name: 'node:http', figures: bare }, goals: startGoals },
      { ...start, beside: { name: 'json-server', figures: json }, goals: [] },
      { ...memory, beside: { name: 'node:http', figures: ofBare }, goals: [{ of: 'value', atMost: 90 }] },
      { ...memory, beside: { name: 'json-server', figures: ofJson }, goals: [] },
      ...(await measureTasks(bench)),
    ];
  },
};

/** Memory of a task that was created, at a million. */
const measureTasks = async ({ scope, load }: Bench): Promise<Finding[]> => {
  const server = await startSignalbox(scope, undefined, { reportsMemory: true });
  const before = await readMemory(server);
  const count = async (): Promise<number> => JSON.parse(await ask({ url: `${server.url}/api/tasks?limit=0` })).total;
  while ((await count()) < 1_000_000) await load(createPost(`${server.url}/api/tasks`, newTask), 2);
  const [after, total] = [await readMemory(server), await count()];
  return (['live', 'resident'] as const).map((key) => ({
    id: 'B10',
    work: `${key === 'live' ? 'memory in use' : 'resident memory'} for a task`,
    unit: ' bytes',
    ours: [((after[key] - before[key]) * 2 ** 20) / total],
    rounds: `${total.toLocaleString('en')} tasks`,
    goals: [{ of: 'value', atMost: 400 }],
  }));
};

/** The single executable beside the bundle. */
const executableStart: Row = {
  ids: ['B16'],
  measure: async (bench) => {
    if (!existsSync(executable)) throw new NotMeasurable('there is no executable: npm run build:executable');
    const sides = [true, false].map(
      (isExecutable): Start =>
        (scope) =>
          startSignalbox(scope, undefined, { isExecutable }),
    );
    const { times } = await measureStarts(bench, sides, 0);
    const [ours = [], figures = []] = times;
    const beside = { name: `Node ${process.versions.node}, dist/signalbox.js`, figures };
    const rounds = `${bench.rounds} starts`;
    const work = 'start of the executable to first response';
    return [{ id: 'B16', work, unit: ' ms', ours, beside, rounds, goals: [{ of: 'ratio', atMost: 0.5 }] }];
  },
};

/** Milliseconds of each reading, and before the first one. */
const readingMs = 10_000;
const settlingMs = 5000;
const readings = 3;

/** What the program costs when nothing happens, and while one console shows its Overview. No process is pinned. */
const consoleCost: Row = {
  ids: ['B22'],
  measure: async ({ scope }) => {
    const browser = await openBrowser();
    if (!browser) throw new NotMeasurable('no Chromium or Chrome is installed');
    scope.atEnd(() => browser.close());
    const { pid, url } = await startSignalbox(scope, undefined);
    const idle = await measureCost(pid);
    const page = await browser.newPage({ locale: 'en-GB' });
    await page.goto(`${url}/console/`);
    await page.getByText('Live', { exact: true }).waitFor();
    const open = await measureCost(pid);
    const row = { id: 'B22', rounds: `${readings} × ${readingMs / 1000} s` };
    const share = (work: string, ours: number[], atMost: number): Finding => {
      return { ...row, work: `processor time ${work}`, unit: ' %', ours, goals: [{ of: 'value', atMost }] };
    };
    const wakes = { ...row, work: 'wakeups of the main thread when idle', unit: '/s', ours: idle.wakeups };
    return [
      share('when idle', idle.shares, 0.3),
      { ...wakes, goals: [{ of: 'value', atMost: 1 }] },
      share('with one console open on Overview', open.shares, 1.5),
    ];
  },
};

/** Percent of one processor that the process uses, and how often its main thread sleeps per second, in each reading. */
const measureCost = async (pid: number): Promise<{ shares: number[]; wakeups: number[] }> => {
  const measured = { shares: [] as number[], wakeups: [] as number[] };
  await setTimeout(settlingMs);
  const read = () => ({
    at: performance.now(),
    cpuMs: readCpuMs(pid),
    wakeups: readStatus(pid, 'voluntary_ctxt_switches'),
  });
  for (let round = 0; round < readings; round += 1) {
    const before = read();
    await setTimeout(readingMs);
    const after = read();
    measured.shares.push(((after.cpuMs - before.cpuMs) / (after.at - before.at)) * 100);
    measured.wakeups.push((after.wakeups - before.wakeups) / ((after.at - before.at) / 1000));
  }
  return measured;
};

/** `npm start` in a fresh clone with an empty npm cache, and each later one. */
const firstStart: Row = {
  ids: ['B23'],
  measure: async ({ scope }) => {
    const obstacle = findObstacle();
    if (obstacle) throw new NotMeasurable(obstacle);
    const t = { after: scope.atEnd };
    const home = createHome(t);
    const clone = createClone(home);
    const start = async (): Promise<number> => {
      const { elapsed, stop } = await startClone(t, ['npm', 'start', '--'], clone, home);
      await stop();
      return elapsed / 1000;
    };
    const first = [await start()];
    const later = [await start(), await start(), await start()];
    const installed = [measureBytes(join(clone, 'node_modules')) / 1e6];
    const row = { id: 'B23', unit: ' s', rounds: '1 start' };
    return [
      { ...row, work: 'first npm start in a fresh clone', ours: first, goals: [{ of: 'value', atMost: 10 }] },
      { ...row, work: 'installed by it', unit: ' MB', ours: installed, goals: [{ of: 'value', atMost: 60 }] },
      { ...row, work: 'later npm start', ours: later, rounds: '3 starts', goals: [{ of: 'value', atMost: 1 }] },
    ];
  },
};

export const footprintRows: readonly Row[] = [footprint, executableStart, consoleCost, firstStart];
