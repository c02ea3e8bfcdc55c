import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { LoopOrder } from '../opponents/undici-loop.ts';
import { ask } from '../support/ask.ts';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { startSink } from '../support/opponents.ts';
import { readCpuMs } from '../support/process-cost.ts';
import { type Measurement, takeTurns } from '../support/rounds.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { startCompanion } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const warmUpMs = 1000;
/** More than are delivered in a round. */
const records = 200_000;

/** Signed webhooks to a receiver on this machine, beside a loop that posts the same bytes. */
const deliveries: Row = {
  ids: ['B14'],
  measure: async (bench) => {
    const dataDir = join(bench.scope.folder, 'deliveries');
    await fillLog(dataDir, records);
    const { url } = await startSink(bench.scope, bench.cores);
    const findings: Finding[] = [];
    for (const concurrency of [1, 8]) findings.push(await compare(bench, url, dataDir, concurrency));
    return findings;
  },
};

const compare = async (bench: Bench, url: string, dataDir: string, concurrency: number): Promise<Finding> => {
  const { scope, cores, rounds, seconds } = bench;
  const cpuMs: [number[], number[]] = [[], []];
  let posted: Pick<LoopOrder, 'headers' | 'body'> | undefined;
  let round = 0;
  /** How many requests arrive in a second, once the first ones have. */
  const measureSide =
    (side: 0 | 1, start: (own: Scope) => Promise<number>): Measurement =>
    () =>
      withScope(scope.folder, async (own) => {
        const pid = await start(own);
        await setTimeout(warmUpMs);
        const read = async () => ({ ...(await readSink(url)), cpu: readCpuMs(pid), at: performance.now() });
        const first = await read();
        await setTimeout(seconds * 1000);
        const last = await read();
        const count = last.count - first.count;
        cpuMs[side].push((last.cpu - first.cpu) / count);
        if (side === 0) posted = { headers: last.headers, body: last.body };
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
    const order: Partial<LoopOrder> = { url: `${url}/in`, concurrency, ...posted };
    return startCompanion(own, cores && { ...cores, load: cores.server }, 'opponents/undici-loop', order).pid;
  });
  const [mine = [], figures = []] = await takeTurns(rounds, [ours, loop]);
  const bytes = Buffer.byteLength(posted?.body ?? '');
  return {
    id: 'B14',
    work: `deliveries to a local receiver, ${concurrency} at a time, signed, ${bytes} bytes each`,
    unit: '/s',
    ours: mine,
    beside: { name: 'a loop with undici that posts the same bytes', figures },
    cpuRatios: cpuMs[1].map((ms, index) => ms / (cpuMs[0][index] ?? Number.NaN)),
    rounds: `${rounds} × ${seconds} s`,
    goals: [{ of: 'ratio', atLeast: 0.7 }],
  };
};

/** How many requests there were, and the last one without headers that undici adds itself. */
const readSink = async (url: string): Promise<Pick<LoopOrder, 'headers' | 'body'> & { count: number }> => {
  const { headers, ...read } = JSON.parse(await ask({ url }));
  const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
  return { ...read, headers: kept };
};

export const deliveryRows: readonly Row[] = [deliveries];
