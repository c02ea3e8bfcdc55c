import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { LoopOrder } from '../opponents/undici-loop.ts';
import { ask } from '../support/ask.ts';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { startSink } from '../support/opponents.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { takeTurns } from '../support/rounds.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { startCompanion } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const warmUpMs = 1000;
/** More than are delivered in a round. */
const records = 200_000;

/** Signed webhooks to a receiver on this machine, beside a loop that posts the same bytes. */
const measure = async (bench: Bench, url: string, dataDir: string, concurrency: number): Promise<Finding> => {
  const { scope, cores, rounds, seconds } = bench;
  const cpuMs: [number[], number[]] = [[], []];
  let posted: Pick<LoopOrder, 'headers' | 'body'> = { headers: {}, body: '' };
  let round = 0;
  /** How many requests arrive in a second, once the first ones have. */
  const measureSide = (side: 0 | 1, start: (own: Scope) => Promise<number>) => (): Promise<number> =>
    withScope(scope.folder, async (own) => {
      const pid = await start(own);
      await setTimeout(warmUpMs);
      const read = async () => ({ ...JSON.parse(await ask({ url })), cpu: readCpuMs(pid), at: performance.now() });
      const first = await read();
      await setTimeout(seconds * 1000);
      const last = await read();
      const count = last.count - first.count;
      cpuMs[side].push((last.cpu - first.cpu) / count);
      // Undici adds these itself.
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = last.headers;
      if (side === 0) posted = { headers, body: last.body };
      return (count * 1000) / (last.at - first.at);
    });
  const ours = measureSide(0, async (own) => {
    // A destination of another name begins at the oldest alert.
    const name = `bench-${concurrency}-${++round}`;
    const destination = { name, type: 'webhook', url: `${url}/in`, secret, concurrency, startAt: 'oldest' };
    const config = join(own.folder, 'config.json');
    writeFileSync(config, JSON.stringify({ destinations: [destination] }), { mode: 0o600 });
    const flags = ['--config', config, '--profiles', 'alerts,monitoring'];
    return (await startSignalbox(own, cores, { dataDir, flags })).pid;
  });
  const loop = measureSide(1, async (own) => {
    const order: LoopOrder = { url: `${url}/in`, concurrency, ...posted };
    return startCompanion(own, cores && { ...cores, load: cores.server }, 'opponents/undici-loop', order).pid;
  });
  const [mine = [], figures = []] = await takeTurns(rounds, [ours, loop]);
  return {
    id: 'B14',
    work: `deliveries to a local receiver, ${concurrency} at a time, signed, ${posted.body.length} bytes each`,
    unit: '/s',
    ours: mine,
    beside: { name: 'a loop with undici that posts the same bytes', figures },
    cpuRatios: cpuMs[1].map((ms, index) => ms / (cpuMs[0][index] ?? Number.NaN)),
    rounds: `${rounds} × ${seconds} s`,
    goals: [{ of: 'ratio', atLeast: 0.7 }],
  };
};

export const deliveries: Row = {
  ids: ['B14'],
  measure: async (bench) => {
    const dataDir = join(bench.scope.folder, 'deliveries');
    await fillLog(dataDir, records);
    const { url } = await startSink(bench.scope, bench.cores);
    return [await measure(bench, url, dataDir, 1), await measure(bench, url, dataDir, 8)];
  },
};
