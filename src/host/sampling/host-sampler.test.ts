import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import type { CountersReading, HostSample } from '../readings.ts';
import { createHostSampler } from './host-sampler.ts';

const toCounters = (busy: number, total: number): CountersReading => ({
  cpuSeconds: new Map([['cpu', { user: busy, idle: total - busy }]]),
  load: 0,
  memory: null,
  network: { received: 10 * total, sent: 0 },
});

/** A machine that is busier with every reading. */
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

test('all listeners get the same samples, and a later one the last of them at once', async (t) => {
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

test('a sample has the usage since the one before, of which the first one has none', async (t) => {
  const sampler = createHostSampler(createCounter().read, 20);
  t.after(() => sampler.close());
  const { samples } = listenTo(sampler);
  await waitUntilPasses(() => assert.ok(samples.length >= 2));
  const [first, second] = samples;
  assert.deepEqual([first?.usage.cpu, first?.usage.networkReceived], [Number.NaN, Number.NaN]);
  assert.equal(second?.usage.cpu.toFixed(4), '0.0300');
  assert.ok((second?.usage.networkReceived ?? 0) > 0);
});

test('nothing is read while nobody listens, and what happened meanwhile is in no sample', async (t) => {
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

test('the first processor shares cover at least 200 ms from the first call', async (t) => {
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
  await assert.rejects(sampler.shares(), /processor times/);
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
