import assert from 'node:assert/strict';
import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createTree } from '../support/host.ts';
import type { Scope } from '../support/scope.ts';
import { mountSmall } from './support/small-disk.ts';
import { readWatch, tryWatch, waitForState } from './support/watches.ts';

/** Mounts of a machine whose root file system is a read-only image. */
const imageMounts = [
  '0:40 / / ro,relatime - overlay overlay ro,lowerdir=/a',
  '8:1 / /usr rw - ext4 /dev/sda1 rw',
  '7:1 / /etc ro - squashfs /dev/loop1 ro',
  '8:2 / /opt ro - erofs /dev/sda2 ro',
  '11:0 / /home ro - iso9660 /dev/sr0 ro',
];

/**
 * Creates readings of a machine with other mounts. Each mount path exists on the machine that runs the test, so that
 * this machine supplies the sizes.
 */
const createMachine = (t: Scope, mounts: readonly string[]): string =>
  createTree(t, {
    'proc/stat': readFileSync('/proc/stat'),
    'proc/self/mountinfo': mounts.map((mount, index) => `${index + 10} 1 ${mount}\n`).join(''),
  });

test('default watches leave out read-only file systems, and a watch that names a read-only file system checks it', async (t) => {
  const hostRoot = createMachine(t, imageMounts);
  const disk = { name: 'disk', type: 'disk', limit: 0 };
  const app = await startApp(t, { hostRoot, settings: { defaultWatches: true, watches: [disk] } });
  const token = await app.login('admin');
  await waitForState(app, token, 'disk', 'firing');
  const toThings = (things: readonly { thing: string }[]): string[] => things.map(({ thing }) => thing).sort();
  assert.deepEqual(toThings((await readWatch(app, token, 'disk')).things), ['/usr']);
  const named = await tryWatch(app, token, { ...disk, mounts: ['/', '/opt'] });
  assert.deepEqual(toThings(named), ['/', '/opt']);
  assert.deepEqual(toThings(await tryWatch(app, token, { ...disk, mounts: ['/*'] })), ['/usr']);
  const metric = await tryWatch(app, token, { ...disk, metric: 'inodes' });
  assert.ok(metric.every(({ thing }) => thing === '/usr'));
});

test('the health names full disks but no read-only file system, with and without watches of disks', async (t) => {
  const folder = mountSmall(t, 8);
  if (folder === undefined) return t.skip('mounting needs root');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'full'), Buffer.alloc(Math.floor(bavail * 0.95) * bsize), { flush: true });
  const readProblems = async (options: string): Promise<string[]> => {
    const hostRoot = createMachine(t, [`8:1 / ${folder} ${options} - ext4 /dev/sda1 ${options}`]);
    const app = await startApp(t, { hostRoot });
    const { json } = await app.request<{ problems: { text: string }[] }>('GET', '/api/status');
    return json.problems.map(({ text }) => text);
  };
  assert.deepEqual(await readProblems('rw'), [`${folder} is 95 % full`]);
  assert.deepEqual(await readProblems('ro'), []);
});

test('a temperature watch leaves out unconnected inputs, and the sensors in except', async (t) => {
  const folder = 'sys/class/hwmon/hwmon0';
  const hostRoot = createTree(t, {
    [`${folder}/name`]: 'nct6798',
    [`${folder}/temp1_input`]: '45000',
    [`${folder}/temp2_input`]: '127000',
    [`${folder}/temp3_input`]: '110000',
    [`${folder}/temp3_label`]: 'AUXTIN2',
  });
  const app = await startApp(t, { hostRoot });
  const token = await app.login('admin');
  const watch = { type: 'temperature', limit: 90 };
  const toWords = async (body: object) =>
    (await tryWatch(app, token, body)).map(({ thing, state }) => `${thing} ${state}`);
  assert.deepEqual(await toWords(watch), ['nct6798 temp1 ok', 'nct6798 AUXTIN2 pending']);
  assert.deepEqual(await toWords({ ...watch, except: ['* AUXTIN*'] }), ['nct6798 temp1 ok']);
});

test('a disk watch leaves out the mounts in except', async (t) => {
  const app = await startApp(t, { hostRoot: createMachine(t, imageMounts) });
  const disk = { type: 'disk', limit: 0, mounts: ['/', '/usr'], except: ['/u*'] };
  const found = await tryWatch(app, await app.login('admin'), disk);
  assert.deepEqual(
    found.map(({ thing, state }) => `${thing} ${state}`),
    ['/ pending', '/usr cannot check'],
  );
});

test('the cache of ZFS except its minimum is available memory in watches, metrics and health', async (t) => {
  const GiB = 1024 ** 3;
  const toArc = (size: number, least: number): string =>
    `13 1 0x01 147 39984 5 6\nname                            type data\nhits 4 99\nc_min 4 ${least}\nc_max 4 ${60 * GiB}\nsize 4 ${size}\n`;
  const meminfo = `MemTotal: ${64 * 1024 ** 2} kB\nMemAvailable: ${2 * 1024 ** 2} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n`;
  /** Reads the percentage of memory in use from a watch, the metrics and the health. */
  const readUsed = async (arcstats?: string): Promise<number[]> => {
    const hostRoot = createTree(t, {
      'proc/stat': readFileSync('/proc/stat'),
      'proc/meminfo': meminfo,
      ...(arcstats !== undefined && { 'proc/spl/kstat/zfs/arcstats': arcstats }),
    });
    const app = await startApp(t, { hostRoot });
    const token = await app.login('admin');
    const [memory] = await tryWatch(app, token, { type: 'memory', limit: 95 });
    const health = await app.request<{ memoryUsage: string }>('GET', '/api/health');
    const metrics = await (await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    const available = Number(/^signalbox_host_memory_available_bytes (\S+)$/m.exec(metrics)?.[1]);
    return [Number(memory?.figure), Number.parseFloat(health.json.memoryUsage), 100 * (1 - available / (64 * GiB))];
  };
  const round = (values: readonly number[]): number[] => values.map((value) => Math.round(value));
  assert.deepEqual(round(await readUsed()), [97, 97, 97]);
  assert.deepEqual(round(await readUsed(toArc(50 * GiB, 2 * GiB))), [22, 22, 22]);
  assert.deepEqual(round(await readUsed(toArc(GiB, 2 * GiB))), [97, 97, 97]);
});
