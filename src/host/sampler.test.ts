import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilPasses } from '../../test/support/wait.ts';
import { createHangGuard, createSharedReading, mapInSlices } from './reading.ts';
import type { CountersReading, CpuSeconds, HostSample } from './readings.ts';
import { createHostSampler, toCpuShares } from './sampler.ts';

const toCounters = (busy: number, total: number): CountersReading => ({
  cpuSeconds: new Map([['cpu', { user: busy, idle: total - busy }]]),
  load: 0,
  memory: null,
  network: { received: 10 * total, sent: 0 },
});

/** Creates a machine that is busier at every reading. */
const createCounter = () => {
  let reads = 0;
  return {
    read: () => {
      reads += 1;
      return toCounters(reads * reads, reads * 100);
    },
    reads: () => reads,
  };
};

const listenTo = (sampler: ReturnType<typeof createHostSampler>) => {
  const samples: HostSample[] = [];
  return { samples, leave: sampler.listen((sample) => void samples.push(sample)) };
};

const readShare = async (sampler: ReturnType<typeof createHostSampler>): Promise<number> =>
  Number((await sampler.shares()).get('cpu')?.toFixed(4));

test('all listeners get the same samples, and a new listener gets the last sample immediately', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createHostSampler(read, 20);
  t.after(() => sampler.close());
  assert.equal(reads(), 0);
  const first = listenTo(sampler);
  assert.equal(first.samples.length, 1);
  await waitUntilPasses(() => assert.ok(first.samples.length >= 3));
  const second = listenTo(sampler);
  assert.deepEqual(second.samples, [first.samples.at(-1)]);
  await waitUntilPasses(() => assert.ok(second.samples.length >= 3));
  assert.deepEqual(second.samples, first.samples.slice(-second.samples.length));
  assert.equal(reads(), first.samples.length);
});

test('a sample has the usage since the previous sample, and the first sample has none', async (t) => {
  const sampler = createHostSampler(createCounter().read, 20);
  t.after(() => sampler.close());
  const { samples } = listenTo(sampler);
  await waitUntilPasses(() => assert.ok(samples.length >= 2));
  const [first, second] = samples;
  assert.deepEqual([first?.usage.cpu, first?.usage.networkReceived], [Number.NaN, Number.NaN]);
  assert.equal(second?.usage.cpu.toFixed(4), '0.0300');
  assert.ok((second?.usage.networkReceived ?? 0) > 0);
});

test('nothing is read without listeners, and no sample includes the usage of that time', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createHostSampler(read, 5);
  t.after(() => sampler.close());
  listenTo(sampler).leave();
  const other = createHostSampler(createCounter().read, 5);
  t.after(() => other.close());
  const { samples } = listenTo(other);
  await waitUntilPasses(() => assert.ok(samples.length >= 5));
  assert.equal(reads(), 1);
  assert.equal(listenTo(sampler).samples[0]?.usage.cpu, Number.NaN);
});

test('the first CPU shares cover at least 200 ms from the first call', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createHostSampler(read, 60_000);
  t.after(() => sampler.close());
  assert.equal(reads(), 0);
  const startedAt = performance.now();
  assert.equal(await readShare(sampler), 0.03);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs >= 195, `${tookMs} ms`);
  assert.equal(await readShare(sampler), 0.04, 'still measured from the start');
});

test('the shares of a complete interval are those that listeners get, without another reading', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createHostSampler(read, 20);
  t.after(() => sampler.close());
  const { samples } = listenTo(sampler);
  await waitUntilPasses(() => assert.ok(samples.length >= 2));
  assert.equal(await readShare(sampler), Number(samples.at(-1)?.usage.cpu.toFixed(4)));
  assert.equal(reads(), samples.length);
});

test('sampling ends some time after the last call if nobody listens', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createHostSampler(read, 5, 50);
  const other = createHostSampler(createCounter().read, 5);
  t.after(() => {
    sampler.close();
    other.close();
  });
  await sampler.shares();
  await waitUntilPasses(async () => {
    const count = reads();
    const { samples, leave } = listenTo(other);
    await waitUntilPasses(() => assert.ok(samples.length >= 5));
    leave();
    assert.equal(reads(), count);
  });
  assert.ok(reads() > 5);
});

test('failed samples are skipped, and the last shares are kept meanwhile', async (t) => {
  const { read } = createCounter();
  let failures = 0;
  let fails = false;
  const sampler = createHostSampler(() => {
    if (!fails) return read();
    failures += 1;
    if (failures % 2 === 0) return { ...read(), cpuSeconds: new Map() };
    throw new Error('EMFILE');
  }, 20);
  t.after(() => sampler.close());
  await sampler.shares();
  fails = true;
  const last = await readShare(sampler);
  await waitUntilPasses(() => assert.ok(failures >= 4));
  assert.equal(await readShare(sampler), last);
  fails = false;
  await waitUntilPasses(async () => assert.notEqual(await readShare(sampler), last));
});

test('a first sample that fails is repeated by the next call', async (t) => {
  const { read, reads } = createCounter();
  let fails = true;
  const sampler = createHostSampler(() => {
    if (fails) throw new Error('EMFILE');
    return read();
  }, 60_000);
  t.after(() => sampler.close());
  await assert.rejects(sampler.shares(), /CPU times/);
  fails = false;
  assert.equal(await readShare(sampler), 0.03);
  assert.equal(reads(), 2);
});

test('a closed sampler takes no more samples', async () => {
  const { read, reads } = createCounter();
  const sampler = createHostSampler(read, 1);
  listenTo(sampler);
  sampler.close();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(reads(), 1);
});

test('concurrent callers share one reading even if no age is allowed', async () => {
  let reads = 0;
  const read = createSharedReading(async () => ++reads, 0);
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  assert.equal(await read(), 2);
});

test('a reading is shared until it exceeds the allowed age', async () => {
  let reads = 0;
  const read = createSharedReading(async () => ++reads, 50);
  assert.equal(await read(), 1);
  assert.equal(await read(), 1);
  await waitUntilPasses(async () => assert.equal(await read(), 2));
});

test('a failed reading rejects for all callers that wait for it, and is not kept', async () => {
  let reads = 0;
  const read = createSharedReading(async () => {
    reads += 1;
    if (reads === 1) throw new Error('no luck');
    return reads;
  }, 60_000);
  const [first, second] = await Promise.allSettled([read(), read()]);
  assert.equal(first.status, 'rejected');
  assert.equal(second.status, 'rejected');
  assert.equal(await read(), 2);
});

const keepBusy = (milliseconds: number): void => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

test('mapped results keep the order of the items, without nulls', async () => {
  assert.deepEqual(await mapInSlices([1, 2, 3, 4], (item) => (item % 2 ? item * 10 : null)), [10, 30]);
});

test('other work runs while a long list is mapped', async () => {
  let turns = 0;
  let done = false;
  const takeTurns = (): void => {
    turns += 1;
    if (!done) setImmediate(takeTurns);
  };
  setImmediate(takeTurns);
  await mapInSlices(Array.from({ length: 20 }), () => keepBusy(1));
  done = true;
  assert.ok(turns >= 15, `${turns} turns`);
});

const toSeconds = (user: number, idle: number, iowait = 0): CpuSeconds => new Map([['cpu', { user, idle, iowait }]]);

const share = (from: CpuSeconds, to: CpuSeconds) => toCpuShares(from, to).get('cpu')?.toFixed(4);

test('the CPU share covers the time between two samples, of which waiting for a disk is idle', () => {
  assert.equal(share(toSeconds(1, 9), toSeconds(1.3, 9.5, 0.2)), '0.3000');
});

test('a CPU whose counters stand still or step back is not busy', () => {
  assert.equal(share(toSeconds(5, 5), toSeconds(5, 5)), '0.0000');
  assert.equal(share(toSeconds(5, 5), toSeconds(4, 16)), '0.0000');
});

test('the CPU share is never more than one', () => {
  assert.equal(share(toSeconds(0, 10), toSeconds(12, 8)), '1.0000');
});

test('a CPU that was just switched on is measured from its own start', () => {
  assert.equal(share(new Map(), toSeconds(1, 3)), '0.2500');
});

const enough = 10_000;

test('reads run one at a time', async () => {
  const guard = createHangGuard();
  let running = 0;
  const read = async (): Promise<string> => {
    running += 1;
    assert.equal(running, 1);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return 'read';
  };
  const results = await Promise.all([guard(read, enough), guard(read, enough), guard(read, enough)]);
  assert.deepEqual(results, ['read', 'read', 'read']);
});

test('while a read hangs, no other read starts, and all return null until it has ended', async () => {
  const guard = createHangGuard();
  let reads = 0;
  let comeBack: (text: string) => void = () => {};
  const answer = new Promise<string>((resolve) => {
    comeBack = resolve;
  });
  const ask = (): Promise<string | null> =>
    guard(() => {
      reads += 1;
      return answer;
    }, 20);
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [null, null, null]);
  assert.equal(reads, 1);
  comeBack('back');
  await waitUntilPasses(async () => assert.equal(await ask(), 'back'));
});

test('a read that fails rejects for its own caller only', async () => {
  const guard = createHangGuard();
  const failed = guard(() => Promise.reject(new Error('no such file')), enough);
  const next = guard(async () => 'read', enough);
  await assert.rejects(failed, /no such file/);
  assert.equal(await next, 'read');
});
