import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openBrowser } from '../../test/e2e/browser.ts';
import * as firstRun from '../../test/first-run/clone.ts';
import { ask, createPost } from '../support/ask.ts';
import { type Finding, toSides } from '../support/finding.ts';
import { NotMeasurable } from '../support/machine.ts';
import { createBare, createJsonServer } from '../support/opponents.ts';
import { readCpuMs, readResidentMiB, readStatus, takeTurns } from '../support/rounds.ts';
import type { Bench, Row } from '../support/run.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { type Server, type ServerOptions, startServer } from '../support/server.ts';
import { executable, readMemory, startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';

/** Pause after the first response before memory is read. */
const idleMs = 500;

interface Start {
  startMs: number;
  resident: number;
  /** Of the first response. */
  bytes: number;
}

/** Starts each side in turns, without pinning anything. */
const measureStarts = ({ scope, rounds }: Bench, ...sides: ((own: Scope) => Promise<Server>)[]): Promise<Start[][]> =>
  takeTurns(
    rounds,
    sides.map(
      (start) => () =>
        withScope(scope.folder, async (own) => {
          const { startMs, firstBytes: bytes, pid } = await start(own);
          await setTimeout(idleMs);
          return { startMs, bytes, resident: readResidentMiB(pid) };
        }),
    ),
  );

/** Two sides of starts, for the table. */
const toFigures = (key: 'startMs' | 'resident', ours: Start[] = [], theirs: Start[] = []) => ({
  ...toSides(ours, theirs, (start) => start[key]),
  unit: key === 'startMs' ? ' ms' : ' MiB',
  rounds: ours.length === 1 ? '1 start' : `${ours.length} starts`,
});

const footprint: Row = {
  id: 'B10',
  measure: async (bench) => {
    const unpinned = (options: ServerOptions) => (own: Scope) => startServer(own, { ...options, place: 'any' });
    const signalbox = (own: Scope) => startSignalbox(own, { place: 'any' });
    const sides = [signalbox, unpinned(createBare('{}')), unpinned(createJsonServer([]))];
    const [ours, bare, json] = await measureStarts(bench, ...sides);
    const start = { id: 'B10', work: 'start to first response' };
    const memory = { id: 'B10', work: 'resident memory, idle' };
    return [
      { ...start, ...toFigures('startMs', ours, bare), name: 'node:http', goal: '≤ 400 ms or ≤ 3 ×' },
      { ...start, ...toFigures('startMs', ours, json), name: 'json-server' },
      { ...memory, ...toFigures('resident', ours, bare), name: 'node:http', goal: '≤ 90 MiB' },
      { ...memory, ...toFigures('resident', ours, json), name: 'json-server' },
      ...(await measureTasks(bench)),
    ];
  },
};

/** Memory of a task that was created, at a million. */
const measureTasks = async ({ scope, load }: Bench): Promise<Finding[]> => {
  const server = await startSignalbox(scope, { place: 'any', reportsMemory: true });
  const before = await readMemory(server);
  const count = async (): Promise<number> => JSON.parse(await ask({ url: `${server.url}/api/tasks?limit=0` })).total;
  const create = createPost(`${server.url}/api/tasks`, newTask);
  const bytes = [Buffer.byteLength(await ask(create))];
  while ((await count()) < 1_000_000) await load(create, 2);
  const [after, total] = [await readMemory(server), await count()];
  return (['live', 'resident'] as const).map((key) => ({
    id: 'B10',
    work: `${key === 'live' ? 'memory in use' : 'resident memory'} for a task`,
    unit: ' bytes',
    ours: [((after[key] - before[key]) * 2 ** 20) / total],
    bytes,
    rounds: `${total.toLocaleString('en')} tasks`,
    goal: '≤ 400 bytes',
  }));
};

/** The single executable beside the bundle. */
const executableStart: Row = {
  id: 'B16',
  measure: async (bench) => {
    if (!existsSync(executable)) throw new NotMeasurable('there is no executable: npm run build:executable');
    const start = (isExecutable: boolean) => (own: Scope) => startSignalbox(own, { isExecutable, place: 'any' });
    const figures = toFigures('startMs', ...(await measureStarts(bench, start(true), start(false))));
    const name = `Node ${process.versions.node}, dist/signalbox.js`;
    return [{ id: 'B16', work: 'start of the executable to first response', ...figures, name, goal: '≤ 0.5 ×' }];
  },
};

/** Milliseconds of each reading, and before the first one. */
const readingMs = 4000;
const settlingMs = 4000;
const readings = 5;

/** What the program costs when nothing happens, and while one console shows its Overview. No process is pinned. */
const consoleCost: Row = {
  id: 'B22',
  measure: async ({ scope }) => {
    const browser = await openBrowser();
    if (!browser) throw new NotMeasurable('no Chromium or Chrome is installed');
    scope.after(() => browser.close());
    const { pid, url } = await startSignalbox(scope, { place: 'any' });
    const idle = await measureCost(pid);
    const page = await browser.newPage({ locale: 'en-GB' });
    await page.goto(`${url}/console/`);
    await page.getByText('Live', { exact: true }).waitFor();
    const open = await measureCost(pid);
    const row = { id: 'B22', unit: ' %', rounds: `${readings} × ${readingMs / 1000} s` };
    const wakeups = { work: 'wakeups of the main thread when idle', unit: '/s', ours: idle.wakeups, goal: '≤ 1 /s' };
    return [
      { ...row, work: 'processor time when idle', ours: idle.shares, goal: '≤ 0.3 %' },
      { ...row, ...wakeups },
      { ...row, work: 'processor time with one console open on Overview', ours: open.shares, goal: '≤ 1.5 %' },
    ];
  },
};

/** Percent of one processor that the process uses, and how often its main thread sleeps per second, in each reading. */
const measureCost = async (pid: number): Promise<{ shares: number[]; wakeups: number[] }> => {
  const measured = { shares: [] as number[], wakeups: [] as number[] };
  await setTimeout(settlingMs);
  const read = () => [performance.now(), readCpuMs(pid), readStatus(pid, 'voluntary_ctxt_switches')] as const;
  for (let round = 0; round < readings; round += 1) {
    const [began, cpu, sleeps] = read();
    await setTimeout(readingMs);
    const [ended, cpuAfter, sleepsAfter] = read();
    measured.shares.push(((cpuAfter - cpu) / (ended - began)) * 100);
    measured.wakeups.push((sleepsAfter - sleeps) / ((ended - began) / 1000));
  }
  return measured;
};

/** `npm start` in a fresh clone with an empty npm cache, and each later one. */
const firstStart: Row = {
  id: 'B23',
  measure: async ({ scope }) => {
    const obstacle = firstRun.findObstacle();
    if (obstacle) throw new NotMeasurable(obstacle);
    const home = firstRun.createHome(scope);
    const clone = firstRun.createClone(home);
    const start = async (): Promise<number> => {
      const { elapsed, stop } = await firstRun.startServer(scope, ['npm', 'start', '--'], clone, home);
      await stop();
      return elapsed / 1000;
    };
    const first = [await start()];
    const later = [await start(), await start(), await start()];
    const installed = [firstRun.measureBytes(join(clone, 'node_modules')) / 1e6];
    const row = { id: 'B23', unit: ' s', rounds: '1 start' };
    return [
      { ...row, work: 'first npm start in a fresh clone', ours: first, goal: '≤ 10 s' },
      { ...row, work: 'installed by it', unit: ' MB', ours: installed, goal: '≤ 60 MB' },
      { ...row, work: 'later npm start', ours: later, rounds: '3 starts', goal: '≤ 1 s' },
    ];
  },
};

export const footprintRows: readonly Row[] = [footprint, executableStart, consoleCost, firstStart];
