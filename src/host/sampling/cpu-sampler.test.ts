import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { type CpuSample, createCpuSampler, toCpuShares } from './cpu-sampler.ts';

const toSample = (busy: number, total: number): CpuSample => new Map([['cpu', { busy, total }]]);

const createCounter = (): { read: () => CpuSample; reads: () => number } => {
  let reads = 0;
  return {
    read: () => {
      reads += 1;
      return toSample(reads * reads, reads * 100);
    },
    reads: () => reads,
  };
};

test('the processor share covers the time between two samples', () => {
  assert.deepEqual([...toCpuShares(toSample(100, 1000), toSample(130, 1100))], [['cpu', 0.3]]);
});

test('a processor whose counters stand still or step back is not busy', () => {
  assert.equal(toCpuShares(toSample(5, 10), toSample(5, 10)).get('cpu'), 0);
  assert.equal(toCpuShares(toSample(5, 10), toSample(4, 20)).get('cpu'), 0);
});

test('the processor share is never more than one', () => {
  assert.equal(toCpuShares(toSample(0, 10), toSample(12, 20)).get('cpu'), 1);
});

test('a processor that was just switched on is measured from its own start', () => {
  assert.equal(toCpuShares(new Map(), toSample(1, 4)).get('cpu'), 0.25);
});

test('the first processor shares cover at least 200 ms from the first call', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createCpuSampler(read, 60_000);
  t.after(() => sampler.close());
  assert.equal(reads(), 0);
  const startedAt = performance.now();
  assert.equal((await sampler.shares()).get('cpu'), 0.03);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs >= 195, `${tookMs} ms`);
  assert.equal((await sampler.shares()).get('cpu'), 0.04, 'still measured from the start');
});

test('the shares of a complete interval are returned without a new sample', async (t) => {
  const { read, reads } = createCounter();
  const sampler = createCpuSampler(read, 20);
  t.after(() => sampler.close());
  await sampler.shares();
  const before = reads();
  const share = (await sampler.shares()).get('cpu') ?? 0;
  assert.ok(before >= 2 && reads() <= before + 1);
  assert.equal(Math.round(share * 100), 2 * before - 1);
});

test('failed samples are skipped, and the last shares are kept meanwhile', async (t) => {
  let ticks = 0;
  let failures = 0;
  let fails = false;
  const sampler = createCpuSampler(() => {
    if (fails) {
      failures += 1;
      throw new Error('EMFILE');
    }
    ticks += 1;
    return toSample(ticks * ticks, ticks * 100);
  }, 20);
  t.after(() => sampler.close());
  await sampler.shares();
  fails = true;
  const last = (await sampler.shares()).get('cpu');
  await waitUntilPasses(() => assert.ok(failures >= 2));
  assert.equal((await sampler.shares()).get('cpu'), last);
  fails = false;
  await waitUntilPasses(async () => assert.notEqual((await sampler.shares()).get('cpu'), last));
});

test('a first sample that fails is repeated by the next call', async (t) => {
  const { read, reads } = createCounter();
  let fails = true;
  const sampler = createCpuSampler(() => {
    if (fails) throw new Error('EMFILE');
    return read();
  }, 60_000);
  t.after(() => sampler.close());
  await assert.rejects(sampler.shares(), /EMFILE/);
  fails = false;
  assert.equal((await sampler.shares()).get('cpu'), 0.03);
  assert.equal(reads(), 2);
});

test('a closed sampler takes no more samples', async () => {
  const { read, reads } = createCounter();
  const sampler = createCpuSampler(read, 1);
  const first = sampler.shares();
  sampler.close();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(reads(), 1);
  await first;
});
