import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { type FaultServer, startServer } from '../test/faults/support/server.ts';
import { quantile, toTable } from './support/figures.ts';
import { fillLog } from './support/fill-log.ts';
import { send } from './support/http.ts';
import { readBytesRead, readCpuMs, readResidentBytes } from './support/process-cost.ts';

/**
 * Startup and listing with a log of ten million records, compared with a log of one hundred. `node
 * dist/bench/large-log.js [FOLDER [RECORDS]]` needs 4 GB and takes a while to fill the log.
 */
const rounds = 15;
const listMs = 1000;
const connections = 8;

const [, , parent = '.', longest = '10000000'] = process.argv;

type Figures = Record<'start' | 'coldStart' | 'readAtStart' | 'firstList' | 'rate' | 'cpu' | 'resident', number[]>;

const createFigures = (): Figures => ({
  start: [],
  coldStart: [],
  readAtStart: [],
  firstList: [],
  rate: [],
  cpu: [],
  resident: [],
});

const run = async (folder: string): Promise<void> => {
  const logs = [100, Number(longest)].map((records) => ({
    records,
    directory: join(folder, String(records)),
    figures: createFigures(),
  }));
  for (const { directory, records } of logs) {
    const { files, bytes } = await fillLog(directory, records);
    process.stdout.write(`${records} records: ${files} files, ${(bytes / 1e9).toFixed(2)} GB\n`);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { directory, figures } of logs) await measureStart(directory, figures);
  }
  const servers = await Promise.all(logs.map(({ directory }) => start(directory)));
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { figures }] of logs.entries()) await measureList(servers[index], figures);
  }
  for (const server of servers) await end(server);
  process.stdout.write(`\n${toTable(['median', ...logs.map(({ records }) => `${records}`), 'ratio'], toRows(logs))}`);
};

const start = async (dataDir: string): Promise<FaultServer> => {
  const server = await startServer({ dataDir });
  if (!server) throw new Error('the server did not start');
  return server;
};

const end = async (server: FaultServer): Promise<void> => {
  server.child.kill('SIGTERM');
  await server.ended;
};

const measureStart = async (directory: string, figures: Figures): Promise<void> => {
  for (const list of [figures.start, figures.coldStart]) {
    if (list === figures.coldStart) await forgetFiles(directory);
    const began = performance.now();
    const server = await start(directory);
    list.push(performance.now() - began);
    figures.readAtStart.push(readBytesRead(server.pid) / 1e6);
    const agent = new Agent();
    const answer = await send(`${server.url}/api/alerts?count=10`, { method: 'GET', agent });
    if (list === figures.coldStart) figures.firstList.push(answer?.ms ?? Number.NaN);
    await end(server);
  }
};

/** Drops the files from the page cache, so that they are read from the disk. */
const forgetFiles = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (name.endsWith('.jsonl')) {
      execFileSync('dd', [`if=${join(directory, name)}`, 'iflag=nocache', 'count=0', 'status=none']);
    }
  }
};

const measureList = async (server: FaultServer | undefined, figures: Figures): Promise<void> => {
  if (!server) throw new Error('no server is running');
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const cpuBefore = readCpuMs(server.pid);
  const began = performance.now();
  let answers = 0;
  const list = async (): Promise<void> => {
    while (performance.now() - began < listMs) {
      const answer = await send(`${server.url}/api/alerts?count=10`, { method: 'GET', agent });
      if (answer?.status !== 200 || !answer.text.startsWith('{"count":10,')) throw new Error(answer?.text);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, list));
  figures.rate.push((answers / (performance.now() - began)) * 1000);
  figures.cpu.push(((readCpuMs(server.pid) - cpuBefore) / answers) * 1000);
  figures.resident.push(readResidentBytes(server.pid) / 1e6);
  agent.destroy();
};

const labels: [keyof Figures, string][] = [
  ['start', 'start until it listens, ms'],
  ['coldStart', 'the same, files not in memory, ms'],
  ['readAtStart', 'read until it listens, code included, MB'],
  ['firstList', 'first list after that, ms'],
  ['rate', 'lists of the last 10, per second'],
  ['cpu', 'processor time of a list, µs'],
  ['resident', 'memory, MB'],
];

/** Uses the median of the ratios per round, since other load on the machine changes between rounds. */
const toRows = ([few, many]: { figures: Figures }[]): string[][] =>
  labels.map(([key, label]) => {
    const [ofFew, ofMany] = [few?.figures[key] ?? [], many?.figures[key] ?? []];
    const ratios = ofMany.map((value, round) => value / (ofFew[round] ?? Number.NaN));
    const [left, right] = [ofFew, ofMany].map((values) => quantile(values, 0.5).toFixed(1));
    return [label, left ?? '', right ?? '', quantile(ratios, 0.5).toFixed(2)];
  });

const folder = await mkdtemp(join(parent, 'large-log-'));
await run(folder).finally(() => rm(folder, { recursive: true, force: true }));
