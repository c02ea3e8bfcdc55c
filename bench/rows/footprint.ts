import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openBrowser } from '../../test/e2e/browser.ts';
import * as firstRun from '../../test/lab/first-run/clone.ts';
import { type Finding, toSides } from '../support/finding.ts';
import { NotMeasurable } from '../support/machine.ts';
import { createBare, createJsonServer } from '../support/opponents.ts';
import { ask, createPost } from '../support/requests.ts';
import { readCpuMs, readStatus, takeTurns } from '../support/rounds.ts';
import type { Bench, Measure } from '../support/run.ts';
import * as servers from '../support/server.ts';
import { newTask } from '../support/tasks.ts';

/** Milliseconds between the first response and the memory reading. */
const idleMs = 500;

/** Starts the sides alternately. Does not pin them to processors. */
const measureStarts = ({ scope, rounds }: Bench, ...sides: ((own: servers.Scope) => Promise<servers.Server>)[]) => {
  const measureStart = (start: (own: servers.Scope) => Promise<servers.Server>) =>
    servers.withScope(scope.folder, async (own) => {
      const { startMs, firstBytes: bytes, pid } = await start(own);
      await setTimeout(idleMs);
      return { startMs, bytes, resident: readStatus(pid, 'VmRSS') / 1024 };
    });
  const turns = sides.map((start) => () => measureStart(start));
  return takeTurns(rounds, turns);
};

type Starts = Awaited<ReturnType<typeof measureStarts>>[number];

const toFigures = (key: 'startMs' | 'resident', ours: Starts = [], theirs: Starts = []) => ({
  ...toSides([ours, theirs], (start) => start[key]),
  unit: key === 'startMs' ? ' ms' : ' MiB',
  rounds: ours.length === 1 ? '1 start' : `${ours.length} starts`,
});

export const startAndMemory: Measure = async (bench) => {
  const unpinned = (options: servers.ServerOptions) => (own: servers.Scope) =>
    servers.startServer(own, { ...options, place: 'any' });
  const signalbox = (own: servers.Scope) => servers.startSignalbox(own, { place: 'any' });
  const sides = [signalbox, unpinned(createBare('{}')), unpinned(createJsonServer([]))];
  const [ours, bare, json] = await measureStarts(bench, ...sides);
  const [start, memory] = [{ work: 'start to first response' }, { work: 'resident memory, idle' }];
  return [
    { ...start, ...toFigures('startMs', ours, bare), name: 'node:http', goal: '≤ 400 ms or ≤ 3 ×' },
    { ...start, ...toFigures('startMs', ours, json), name: 'json-server' },
    { ...memory, ...toFigures('resident', ours, bare), name: 'node:http', goal: '≤ 85 MiB' },
    { ...memory, ...toFigures('resident', ours, json), name: 'json-server' },
    ...(await measureTasks(bench)),
  ];
};

/** Measures memory per task with a million tasks. */
const measureTasks = async ({ scope, load }: Bench): Promise<Finding[]> => {
  const server = await servers.startSignalbox(scope, { place: 'any', reportsMemory: true });
  const before = await servers.readMemory(server);
  const count = async (): Promise<number> => JSON.parse(await ask({ url: `${server.url}/api/tasks?limit=0` })).total;
  const create = createPost(`${server.url}/api/tasks`, newTask);
  const bytes = [Buffer.byteLength(await ask(create))];
  while ((await count()) < 1_000_000) await load(create, 2);
  const [after, total] = [await servers.readMemory(server), await count()];
  return (['live', 'resident'] as const).map((key) => ({
    work: `${key === 'live' ? 'memory in use' : 'resident memory'} for a task`,
    unit: ' bytes',
    ours: [((after[key] - before[key]) * 2 ** 20) / total],
    bytes,
    rounds: `${total.toLocaleString('en')} tasks`,
    goal: '≤ 400 bytes',
  }));
};

/** Measures the startup of the single executable. Compares it with that of the bundle. */
export const executableStart: Measure = async (bench) => {
  if (!existsSync(servers.executable)) throw new NotMeasurable('there is no executable: npm run build:executable');
  const start = (isExecutable: boolean) => (own: servers.Scope) =>
    servers.startSignalbox(own, { isExecutable, place: 'any' });
  const figures = toFigures('startMs', ...(await measureStarts(bench, start(true), start(false))));
  const name = `Node ${process.versions.node}, dist/signalbox.js`;
  return [{ work: 'start of the executable to first response', ...figures, name, goal: '≤ 0.5 ×' }];
};

/** Milliseconds per reading, and milliseconds before the first reading. */
const readingMs = 4000;
const readings = 5;

/** Measures the cost of an idle program and of one console showing its Overview. No process is pinned. */
export const consoleCost: Measure = async ({ scope }) => {
  const browser = await openBrowser();
  if (!browser) throw new NotMeasurable('no Chromium or Chrome is installed');
  scope.after(() => browser.close());
  const { pid, url } = await servers.startSignalbox(scope, { place: 'any' });
  const idle = await measureCost(pid);
  const page = await browser.newPage({ locale: 'en-GB' });
  await page.goto(`${url}/console/`);
  await page.getByText('Live', { exact: true }).waitFor();
  const open = await measureCost(pid);
  const row = { unit: ' %', rounds: `${readings} × ${readingMs / 1000} s` };
  const wakeups = { ...row, unit: '/s', ours: idle.map((cost) => cost.wakeups) };
  const toShares = (costs: typeof idle) => ({ ...row, ours: costs.map(({ share }) => share) });
  return [
    { work: 'processor time when idle', ...toShares(idle), goal: '≤ 0.3 %' },
    { work: 'wakeups of the main thread when idle', ...wakeups, goal: '≤ 1 /s' },
    { work: 'processor time with one console open on Overview', ...toShares(open), goal: '≤ 1.5 %' },
  ];
};

/** Takes several readings of a process: its CPU usage in percent of one core, and the wakeups of its main thread. */
export const measureCost = async (pid: number) => {
  const read = () => [performance.now(), readCpuMs(pid), readStatus(pid, 'voluntary_ctxt_switches')] as const;
  await setTimeout(readingMs);
  const costs = [];
  for (let round = 0; round < readings; round += 1) {
    const [began, cpu, sleeps] = read();
    await setTimeout(readingMs);
    const [ended, cpuAfter, sleepsAfter] = read();
    const ms = ended - began;
    costs.push({ share: (100 * (cpuAfter - cpu)) / ms, wakeups: (1000 * (sleepsAfter - sleeps)) / ms });
  }
  return costs;
};

/** Measures `npm start` in a fresh clone with an empty npm cache, and each later start. */
export const firstStart: Measure = async ({ scope }) => {
  const obstacle = firstRun.findObstacle();
  if (obstacle) throw new NotMeasurable(obstacle);
  const home = firstRun.createHome(scope);
  const clone = firstRun.createClone(home);
  const start = async (): Promise<number> => {
    const began = performance.now();
    const { stop } = await firstRun.startServer(scope, ['npm', 'start', '--'], clone, home);
    const seconds = (performance.now() - began) / 1000;
    await stop();
    return seconds;
  };
  const first = [await start()];
  const later = [await start(), await start(), await start()];
  const installed = [firstRun.measureBytes(join(clone, 'node_modules')) / 1e6];
  return [
    { work: 'first npm start in a fresh clone', unit: ' s', ours: first, rounds: '1 start', goal: '≤ 10 s' },
    { work: 'installed by it', unit: ' MB', ours: installed, rounds: '1 start', goal: '≤ 60 MB' },
    { work: 'later npm start', unit: ' s', ours: later, rounds: '3 starts', goal: '≤ 1 s' },
  ];
};
