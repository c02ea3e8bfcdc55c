import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLastMinute, findHostConcerns } from './index.ts';

/** Returns the means for the usage in each second, given as shares of CPU and memory. */
const createMinute = (usage: readonly (readonly [cpu: number, memory: number])[]) => {
  const lastMinute = createLastMinute();
  const add = (second: number, cpu: number, memory: number): void => {
    const others = { swapUsed: 0, load: 0, networkReceived: 0, networkSent: 0 };
    lastMinute.add({ at: 1000 * second, usage: { cpu, memoryUsed: 100 * memory, memoryTotal: 100, ...others } });
  };
  add(0, Number.NaN, usage[0]?.[1] ?? 0);
  for (const [second, [cpu, memory]] of usage.entries()) add(second + 1, cpu, memory);
  return lastMinute.means();
};

const repeat = (seconds: number, cpu: number, memory: number) =>
  Array.from({ length: seconds }, () => [cpu, memory] as const);

const toTexts = (...input: Parameters<typeof findHostConcerns>) => findHostConcerns(...input).map(({ text }) => text);

test('CPU and memory are a problem only as means of a whole minute', () => {
  assert.deepEqual(toTexts(undefined, []), []);
  assert.deepEqual(toTexts(createMinute(repeat(59, 1, 1)), []), []);
  assert.deepEqual(toTexts(createMinute(repeat(60, 0.975, 0.965)), []), [
    'The CPU was 97 % busy over the last minute',
    '96 % of the memory is in use',
  ]);
});

test('neither a few busy seconds nor a busy minute in the past are a problem', () => {
  assert.deepEqual(toTexts(createMinute([...repeat(100, 0.3, 0.5), ...repeat(10, 1, 1)]), []), []);
  const after = createMinute([...repeat(100, 1, 1), ...repeat(60, 0.25, 0.5)]);
  assert.deepEqual([after?.cpu, after?.memory.toFixed(2)], [0.25, '0.51']);
});

test('a disk is a problem from 90 % of the space for ordinary users on, and critical from 97 % on', () => {
  const toDisk = (mountPath: string, usedBytes: number, availableBytes: number) => ({
    mountPath,
    usedBytes,
    availableBytes,
  });
  const disks = [toDisk('/', 899, 101), toDisk('/var', 91, 9), toDisk('/srv', 999, 1), toDisk('/empty', 0, 0)];
  assert.deepEqual(findHostConcerns(undefined, disks), [
    { area: 'host', severity: 'WARNING', text: '/var is 91 % full' },
    { area: 'host', severity: 'CRITICAL', text: '/srv is 99 % full' },
  ]);
});
