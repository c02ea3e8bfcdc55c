import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { readOutput, run } from '../../../../../../test/support/native-commands.ts';
import { waitUntilPasses } from '../../../../../../test/support/wait.ts';

/** Drive types implied by the file system type. */
const driveTypes: Record<string, number> = { tmpfs: 6, devtmpfs: 6, nfs4: 4, cifs: 4, overlay: 3 };

/** Type, size and available bytes by mount path. */
const readDf = (): Map<string, string[]> => {
  const text = readOutput('df', '--all', '--block-size=1', '--output=target,fstype,size,avail');
  return new Map(
    text.split('\n').map((line) => {
      const [target = '', ...cells] = line.split(/ +/);
      return [target, cells];
    }),
  );
};

test('Win32_LogicalDisk matches df for every file system', async () => {
  // File systems may be mounted, resized or unmounted between the two readings.
  await waitUntilPasses(async () => {
    const rows = await run('Win32_LogicalDisk');
    const shown = readDf();
    assert.ok(rows.some(({ DeviceID }) => DeviceID === '/'));
    for (const row of rows.filter(({ DeviceID }) => shown.has(String(DeviceID)))) {
      const [type = '', size, available] = shown.get(String(row['DeviceID'])) ?? [];
      assert.deepEqual([row['FileSystem'], String(row['Size'])], [type, size], String(row['DeviceID']));
      const written = Math.abs(Number(available) - Number(row['FreeSpace']));
      assert.ok(written <= 0.05 * Number(size), `${row['DeviceID']}: ${available}, not ${row['FreeSpace']}`);
      assert.equal(row['DriveType'], driveTypes[type] ?? row['DriveType']);
    }
  });
});

test('the root is a local disk, and VolumeName is null without udev', async () => {
  const [root = {}] = await run(`Win32_LogicalDisk -Filter "DeviceID = '/'"`);
  assert.equal(root['DriveType'], 3);
  if (!existsSync('/dev/disk/by-label')) assert.equal(root['VolumeName'], null);
});
