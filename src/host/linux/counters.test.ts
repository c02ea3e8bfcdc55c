import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTree } from '../../../test/support/host.ts';
import { parseCpuSeconds, parseNetwork, readCounters } from './counters.ts';

const dev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  999  9 0 0 0 0 0 0  999  9 0 0 0 0 0 0
  eth0: 1000 10 0 0 0 0 0 0  200  2 0 0 0 0 0 0
 wlan0:5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0
veth12:  50  1 0 0 0 0 0 0   70  1 0 0 0 0 0 0
`;

test('processor seconds by mode come from the first line, and time of guests is left out', () => {
  const seconds = parseCpuSeconds('cpu  100 200 300 400 500 600 700 800 900 1000\ncpu0 1 2 3 4 5 6 7 8 9 10\n');
  const expected = { user: 1, nice: 2, system: 3, idle: 4, iowait: 5, irq: 6, softirq: 7, steal: 8 };
  assert.deepEqual(seconds, expected);
});

test('network bytes are those of real interfaces', () => {
  assert.deepEqual(parseNetwork(dev), { received: 1005, sent: 207 });
});

test('counters whose files cannot be read are missing', (t) => {
  const root = createTree(t, {});
  assert.deepEqual(
    { ...readCounters(`${root}/proc`), load: 0 },
    { cpuSeconds: {}, load: 0, memory: null, network: null },
  );
});
