import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask } from '../support/ask.ts';
import { bindTo } from '../support/cores.ts';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { startProgram } from '../support/program.ts';
import { takeTurns } from '../support/rounds.ts';
import { createScope } from '../support/scope.ts';
import { type Server, startServer } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

const sink = fileURLToPath(new URL('../opponents/sink.js', import.meta.url));
const loop = fileURLToPath(new URL('../opponents/undici-loop.js', import.meta.url));
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const warmUpMs = 1000;
/** More than are delivered in a round. */
const records = 200_000;

/** Signed webhooks to a receiver on this machine, beside a loop that posts the same bytes. */
export const deliveries: Row = {
  id: 'B14',
  measure: async (bench) => {
    const { scope, cores } = bench;
    const dataDir = join(scope.folder, 'deliveries');
    await fillLog(dataDir, records);
    const receiver = await startServer(scope, cores && { ...cores, server: cores.load }, {
      command: (port) => [process.execPath, sink, String(port)],
      path: '/',
    });
    const findings: Finding[] = [];
    for (const concurrency of [1, 8]) findings.push(await compare(bench, receiver, dataDir, concurrency));
    return findings;
  },
};

const compare = async (bench: Bench, receiver: Server, dataDir: string, concurrency: number): Promise<Finding> => {
  const { scope, cores, rounds, seconds } = bench;
  const posted = join(scope.folder, 'posted.json');
  const cpuOfOurs: number[] = [];
  const cpuOfLoop: number[] = [];
  let round = 0;
  const measureOurs = async (): Promise<number> => {
    const inner = createScope(scope.folder);
    // A destination of another name begins at the oldest alert.
    round += 1;
    const name = `bench-${concurrency}-${round}`;
    const destination = { name, type: 'webhook', url: `${receiver.url}/in`, secret, concurrency, startAt: 'oldest' };
    const config = join(inner.folder, 'config.json');
    writeFileSync(config, JSON.stringify({ destinations: [destination] }), { mode: 0o600 });
    const { pid } = await startSignalbox(inner, cores, {
      dataDir,
      flags: ['--config', config, '--profiles', 'alerts,monitoring'],
    });
    const rate = await countRate(receiver, seconds, pid, cpuOfOurs);
    writeFileSync(posted, await toPosted(receiver));
    await inner.end();
    return rate;
  };
  const measureLoop = async (): Promise<number> => {
    const [program = '', ...args] = bindTo(cores?.server, [
      ...[process.execPath, loop, `${receiver.url}/in`, posted, String(concurrency)],
    ]);
    const running = await startProgram(program, args, async () => true);
    const rate = await countRate(receiver, seconds, running.pid, cpuOfLoop);
    await running.kill();
    return rate;
  };
  const [ours = [], figures = []] = await takeTurns(rounds, [measureOurs, measureLoop]);
  return {
    id: 'B14',
    work: `deliveries to a local receiver, ${concurrency} at a time, signed`,
    unit: '/s',
    ours,
    beside: { name: 'a loop with undici that posts the same bytes', figures },
    cpuRatios: cpuOfLoop.map((ms, index) => ms / (cpuOfOurs[index] ?? Number.NaN)),
    goals: [{ of: 'ratio', atLeast: 0.5 }],
  };
};

/** How many requests arrive in a second, once the first ones have; adds the processor time of each to `cpuMs`. */
const countRate = async ({ url }: Server, seconds: number, pid: number, cpuMs: number[]): Promise<number> => {
  await setTimeout(warmUpMs);
  const read = async () => ({
    count: JSON.parse(await ask({ url })).count,
    cpu: readCpuMs(pid),
    at: performance.now(),
  });
  const first = await read();
  await setTimeout(seconds * 1000);
  const last = await read();
  const count = last.count - first.count;
  cpuMs.push((last.cpu - first.cpu) / count);
  return (count * 1000) / (last.at - first.at);
};

/** The last request, without headers that undici adds itself. */
const toPosted = async ({ url }: Server): Promise<string> => {
  const { headers, body } = JSON.parse(await ask({ url }));
  const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
  return JSON.stringify({ headers: kept, body });
};
