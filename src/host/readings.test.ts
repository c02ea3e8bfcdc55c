import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { test } from 'node:test';
import { createTree, inBackground, keepRunning } from '../../test/support/host.ts';
import { waitUntilPasses } from '../../test/support/wait.ts';
import { createHostReadings, createLinuxReadings } from './index.ts';
import type { FileSystemReading, HostReadings } from './readings.ts';

/** Both implementations run on Linux, so each checks the other. */
const implementations: Record<string, HostReadings> = {
  linux: createHostReadings('linux'),
  portable: createHostReadings('darwin'),
};

test.after(() => {
  for (const readings of Object.values(implementations)) {
    readings.close();
  }
});

for (const [name, readings] of Object.entries(implementations)) {
  test(`${name}: the system has a name and a boot time that matches its uptime`, async () => {
    const { hostname, architecture, bootedAt, osName } = await readings.system();
    assert.notEqual(hostname, '');
    assert.equal(architecture, process.arch);
    assert.ok(osName);
    const sinceBoot = (Date.now() - bootedAt.getTime()) / 1000;
    assert.ok(Math.abs(sinceBoot - readings.uptimeSeconds()) < 5);
  });

  test(`${name}: memory is that of the machine`, async () => {
    const { total, available, swapTotal, swapFree } = await readings.memory();
    assert.equal(total, totalmem());
    assert.ok(available > 0 && available < total);
    assert.ok(swapFree <= swapTotal);
  });

  test(`${name}: shares and loads of CPUs are within their bounds`, async () => {
    const busy = await readings.cpuBusy();
    assert.ok(busy >= 0 && busy <= 1, `${busy}`);
    const processors = await readings.processors();
    assert.equal(processors[0]?.id, 'CPU0');
    const logical = processors.reduce((sum, { logicalProcessors }) => sum + logicalProcessors, 0);
    assert.equal(logical, cpus().length);
    for (const { loadPercent } of processors) {
      assert.ok(loadPercent !== null && loadPercent >= 0 && loadPercent <= 100);
    }
  });

  test(`${name}: a process is found with its parent, memory and start`, async (t) => {
    const pid = await keepRunning(t, spawn('/bin/sleep', ['60'], inBackground));
    await waitUntilPasses(async () => {
      const found = (await readings.processes()).find((process) => process.pid === pid);
      assert.equal(found?.name, 'sleep');
      assert.equal(found.parentPid, process.pid);
      assert.ok(found.workingSetBytes > 100_000);
      assert.ok((found.virtualBytes ?? 0) >= found.workingSetBytes);
      assert.ok(Math.abs(Date.now() - (found.startedAt?.getTime() ?? 0)) < 30_000);
    });
  });

  test(`${name}: processes are counted`, async () => {
    await waitUntilPasses(async () => assert.equal(await readings.processCount(), (await readings.processes()).length));
  });

  test(`${name}: details are read of the given processes that exist`, async () => {
    await waitUntilPasses(async () => {
      const details = await readings.processDetails([process.pid, 2 ** 22 + 1]);
      assert.deepEqual([...details.keys()], [process.pid]);
    });
  });

  test(`${name}: file systems have consistent sizes`, async () => {
    const fileSystems = await readings.fileSystems();
    assert.ok(fileSystems.some(({ mountPath }) => mountPath === '/'));
    for (const { mountPath, totalBytes, usedBytes, availableBytes } of fileSystems) {
      assert.ok(totalBytes > 0, mountPath);
      assert.ok(usedBytes + availableBytes <= totalBytes, mountPath);
    }
  });
}

const listDisks = async (readings?: HostReadings): Promise<unknown[]> =>
  ((await readings?.fixedDisks()) ?? [])
    .map(({ mountPath, device, type, kind, totalBytes }: FileSystemReading) => [
      ...[mountPath, device, type, kind, totalBytes],
    ])
    .sort();

test('both implementations agree on the disks, memory and swap', async () => {
  const { linux, portable } = implementations;
  // A disk may appear or disappear between the two readings.
  await waitUntilPasses(async () => assert.deepEqual(await listDisks(linux), await listDisks(portable)));
  await waitUntilPasses(async () => {
    const [one, other] = await Promise.all([linux?.memory(), portable?.memory()]);
    const difference = Math.abs((one?.available ?? 0) - (other?.available ?? 0));
    assert.ok(difference < (one?.total ?? 0) / 100, `${difference} bytes`);
    assert.deepEqual([one?.swapTotal, one?.swapFree], [other?.swapTotal, other?.swapFree]);
  });
});

test('the platform decides which implementation is used', (t) => {
  const readings = createHostReadings();
  t.after(() => readings.close());
  assert.ok(readings.uptimeSeconds() > 0);
});

test('no reading is taken before it is requested', async (t) => {
  const readings = createLinuxReadings(createTree(t, {}));
  t.after(() => readings.close());
  await assert.rejects(readings.cpuBusy(), /CPU times of this machine cannot be read/);
  assert.notEqual(readings.hostname(), '');
});
