import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { requires } from '../../../test/lab/faults/support/requirements.ts';
import { createTree } from '../../../test/support/host.ts';
import { extension, loader } from '../../../test/support/source.ts';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { readLinuxCounters } from './counters.ts';

const dev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  999  9 0 0 0 0 0 0  999  9 0 0 0 0 0 0
  eth0: 1000 10 0 0 0 0 0 0  200  2 0 0 0 0 0 0
 wlan0:5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0
veth12:  50  1 0 0 0 0 0 0   70  1 0 0 0 0 0 0
`;

/** Creates a machine with these interfaces in /proc/net/dev. Some of them are virtual. */
const createMachine = (t: TestContext, lines: string, virtual: readonly string[]): string =>
  createTree(t, {
    'proc/net/dev': lines,
    'sys/devices/virtual/net/.none': '',
    ...Object.fromEntries(virtual.map((name) => [`sys/devices/virtual/net/${name}/uevent`, ''])),
  });

test('network bytes are those of the interfaces that the kernel does not call virtual, whatever their names', (t) => {
  const row = (name: string) => `${name}: 50 1 0 0 0 0 0 0 70 1 0 0 0 0 0 0\n`;
  const virtual = ['lo', 'veth12', 'br0', 'eth0.100', 'tailscale0', 'vnet0'];
  const root = createMachine(t, dev + virtual.slice(2).map(row).join(''), virtual);
  assert.deepEqual(readLinuxCounters(root).network, { received: 1005, sent: 207 });
});

test('if all network interfaces are virtual, as in a container, all except loopback count', (t) => {
  const root = createMachine(t, dev, ['lo', 'eth0', 'wlan0', 'veth12']);
  assert.deepEqual(readLinuxCounters(root).network, { received: 1055, sent: 277 });
});

/** Prints the network counters and, for comparison, the same counters from other files of the kernel. */
const printNetwork = `
  import { readdirSync, readFileSync } from 'node:fs';
  const { readLinuxCounters } = await import(process.argv[1]);
  const sum = (key) => readdirSync('/sys/class/net').filter((name) => name !== 'lo').reduce(
    (total, name) => total + Number(readFileSync('/sys/class/net/' + name + '/statistics/' + key, 'utf8')), 0);
  const length = readFileSync('/proc/net/dev').length;
  const { network } = readLinuxCounters('');
  console.log(JSON.stringify({ length, network, expected: { received: sum('rx_bytes'), sent: sum('tx_bytes') } }));
`;

test(
  'the bytes of each of a hundred network interfaces count',
  requires({ programs: ['unshare', 'ip'], mounts: true }),
  async () => {
    const script = `
      mount -t sysfs none /sys
      for i in $(seq 50); do echo "link add left$i type veth peer name right$i"; done | ip -batch -
      for i in $(seq 50); do echo "link set left$i up"; echo "link set right$i up"; done | ip -batch -
      exec ${[process.execPath, ...loader].join(' ')} --input-type=module -e "$0" "$1"`;
    const module = new URL(`counters${extension}`, import.meta.url).href;
    const args = ['--net', '--mount', 'bash', '-euc', script, printNetwork, module];
    // Packets that arrive between the two readings make them differ.
    await waitUntilPasses(() => {
      const { length, network, expected } = JSON.parse(execFileSync('unshare', args, { encoding: 'utf8' }));
      assert.ok(length > 10_000, `${length} bytes`);
      assert.ok(expected.received > 0);
      assert.deepEqual(network, expected);
    }, 30_000);
  },
);

test('counters whose files cannot be read are missing', (t) => {
  const root = createTree(t, {});
  assert.deepEqual(
    { ...readLinuxCounters(root), load: 0 },
    { cpuSeconds: new Map(), load: 0, memory: null, network: null },
  );
});
