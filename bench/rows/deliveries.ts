import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { LoopOrder } from '../opponents/undici-loop.ts';
import { fillLog } from '../support/alert-log.ts';
import { ask } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { sink } from '../support/opponents.ts';
import { readCpuMs } from '../support/processor-time.ts';
import { type Round, takeTurns, toRates } from '../support/rounds.ts';
import type { Bench, Row } from '../support/run.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { startCompanion, startServer } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const warmUpMs = 1000;
/** More than are delivered in a round. */
const records = 200_000;

interface Received {
  count: number;
  headers: Record<string, string>;
  body: string;
}

/** Signed webhooks to a receiver on this machine, beside a loop that posts the same bytes. */
const measure = async (bench: Bench, url: string, dataDir: string, concurrency: number): Promise<Finding> => {
  const { scope, rounds, seconds } = bench;
  const read = async (): Promise<Received> => JSON.parse(await ask({ url }));
  /** How many requests arrive in a second, once the first ones have. */
  const side = (start: (own: Scope) => Promise<{ pid: number }>) => (): Promise<Round & { last: Received }> =>
    withScope(scope.folder, async (own) => {
      const { pid } = await start(own);
      await setTimeout(warmUpMs);
      const [first, cpu, began] = [await read(), readCpuMs(pid), performance.now()];
      await setTimeout(seconds * 1000);
      const last = await read();
      const count = last.count - first.count;
      const perSecond = (count * 1000) / (performance.now() - began);
      return { perSecond, cpuMs: (readCpuMs(pid) - cpu) / count, last };
    });
  let round = 0;
  let posted: Pick<LoopOrder, 'headers' | 'body'> | undefined;
  const ours = side((own) => {
    // A destination of another name begins at the oldest alert.
    const name = `bench-${concurrency}-${++round}`;
    const destination = { name, type: 'webhook', url: `${url}/in`, secret, concurrency, startAt: 'oldest' };
    return startSignalbox(own, {
      dataDir,
      config: { destinations: [destination] },
      flags: ['--profiles', 'alerts,monitoring'],
    });
  });
  const loop = side(async (own) => {
    if (!posted) {
      const { headers, body } = await read();
      // Undici adds these itself.
      const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
      posted = { headers: kept, body };
    }
    const order: LoopOrder = { url: `${url}/in`, concurrency, ...posted };
    return startCompanion(own, 'opponents/undici-loop', order, 'server');
  });
  const results = await takeTurns(rounds, [ours, loop]);
  const bytes = results.map(([first]) => Buffer.byteLength(first?.last.body ?? ''));
  return {
    id: 'B14',
    work: `deliveries to a local receiver, ${concurrency} at a time, signed (bytes of the request)`,
    name: 'a loop with undici that posts the same bytes',
    ...toRates(bench, results, bytes),
    goal: '≥ 0.7 ×',
  };
};

export const deliveries: Row = {
  id: 'B14',
  measure: async (bench) => {
    const dataDir = join(bench.scope.folder, 'deliveries');
    await fillLog(dataDir, records);
    const { url } = await startServer(bench.scope, sink);
    return [await measure(bench, url, dataDir, 1), await measure(bench, url, dataDir, 8)];
  },
};
