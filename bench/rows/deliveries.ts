import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createFileNames } from '../../src/storage/journal/files.ts';
import type { start as loopWithUndici } from '../opponents/undici-loop.ts';
import { fillLog } from '../support/alert-log.ts';
import { sink } from '../support/opponents.ts';
import { ask } from '../support/requests.ts';
import { compareRates, type Side } from '../support/rounds.ts';
import type { Bench, Measure } from '../support/run.ts';
import { startCompanion, startSearchable, startServer, withScope } from '../support/server.ts';

const key = Buffer.alloc(32, 1).toString('base64');
/** Alerts sent per second in a round: more than can be delivered. */
const perSecond = 30_000;
const pollMs = 10;

/** Measures signed webhooks to a receiver on this machine. Compares them with a loop that builds and posts the same. */
export const deliveries: Measure = async (bench) => {
  const dataDir = join(bench.scope.folder, 'deliveries');
  await fillLog(dataDir, perSecond * bench.seconds * (bench.rounds + 2));
  const measure = (concurrency: number) =>
    withScope(bench.scope.folder, (scope) => measureDeliveries({ ...bench, scope }, dataDir, concurrency));
  return [await measure(1), await measure(8)];
};

/** Number of requests that the receiver got, and the last request. */
interface Received {
  count: number;
  headers: Record<string, string>;
  body: string;
}

/** Returns the names of the headers and of the members of the body. */
const toShape = ({ headers, body }: Received): string =>
  [...Object.keys(headers).sort(), ...Object.keys(JSON.parse(body))].join(' ');

/** Measures both sides. Each side posts continuously, so each is stopped while the other is measured. */
const measureDeliveries = async (bench: Bench, dataDir: string, concurrency: number) => {
  const { scope, seconds } = bench;
  const { url } = await startServer(scope, sink);
  const read = async (): Promise<Received> => JSON.parse(await ask({ url }));
  // A destination with a new name starts at the oldest alert.
  const destination = {
    name: `bench-${concurrency}`,
    type: 'webhook',
    url: `${url}/in`,
    secret: `whsec_${key}`,
    concurrency,
  };
  const config = { destinations: [{ ...destination, startAt: 'oldest' }] };
  const ours = await startSearchable(scope, { dataDir, config });
  while ((await read()).count === 0) await setTimeout(pollMs);
  process.kill(ours.pid, 'SIGSTOP');
  const mine = await read();
  const log = createFileNames(dataDir, 'alerts').active;
  const args: Parameters<typeof loopWithUndici> = [destination.url, concurrency, log, mine.headers['via'] ?? '', key];
  const loop = await startCompanion<typeof loopWithUndici>(scope, 'opponents/undici-loop', args, 'server');
  while ((await read()).count === mine.count) await setTimeout(pollMs);
  process.kill(loop.pid, 'SIGSTOP');
  const [ownShape, otherShape] = [mine, await read()].map(toShape);
  if (ownShape !== otherShape) throw new Error(`the requests differ: ${ownShape} and ${otherShape}`);
  const toSide = (pid: number): Side => ({
    pids: [pid],
    bytes: Buffer.byteLength(mine.body),
    work: async () => {
      process.kill(pid, 'SIGCONT');
      const [{ count: before }, began] = [await read(), performance.now()];
      await setTimeout(seconds * 1000);
      const [{ count: after }, ended] = [await read(), performance.now()];
      process.kill(pid, 'SIGSTOP');
      const count = after - before;
      if (count === 0) throw new Error(`process ${pid} delivers nothing`);
      return { count, perSecond: (count * 1000) / (ended - began) };
    },
  });
  return {
    work: `deliveries to a local receiver, ${concurrency} at a time, signed (bytes of the request)`,
    name: 'a loop with undici that parses, builds and signs the same',
    ...(await compareRates(bench, toSide(ours.pid), toSide(loop.pid))),
    goal: '≥ 0.7 ×',
  };
};
