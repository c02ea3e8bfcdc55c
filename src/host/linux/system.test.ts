import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree, inEnglish, toLines } from '../../../test/support/host.ts';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { createLinuxReadings } from '../index.ts';
import { parseMemory } from './counters.ts';
import { countUsers, countUtmpUsers, findDomain, parseOsName } from './system.ts';

test('name, release and build are those that uname shows', async () => {
  const { hostname, osVersion, osBuild, bootedAt } = await createLinuxReadings().system();
  assert.deepEqual(
    [hostname, osVersion, osBuild],
    ['-n', '-r', '-v'].map((flag) => toLines(execFileSync('uname', [flag], inEnglish))[0]),
  );
  const [since = ''] = toLines(execFileSync('uptime', ['--since'], inEnglish));
  assert.ok(Math.abs(bootedAt.getTime() - new Date(since.replace(' ', 'T')).getTime()) <= 2000);
});

test('the firmware names the hardware', async (t) => {
  const root = createTree(t, {
    'sys/class/dmi/id/sys_vendor': 'Dell Inc.\n',
    'sys/class/dmi/id/product_name': 'PowerEdge R640\n',
    'etc/os-release': '',
    'usr/lib/os-release': 'PRETTY_NAME="From usr"\n',
    'proc/cpuinfo': 'processor\t: 0\nflags\t: fpu lm\n',
    'proc/stat': 'btime 1700000000\n',
  });
  const { manufacturer, model, osName, hypervisorPresent, bootedAt } = await createLinuxReadings(root).system();
  assert.deepEqual(
    { manufacturer, model, osName, hypervisorPresent, bootedAt: bootedAt.getTime() / 1000 },
    {
      manufacturer: 'Dell Inc.',
      model: 'PowerEdge R640',
      osName: 'From usr',
      hypervisorPresent: false,
      bootedAt: 1_700_000_000,
    },
  );
});

test('the device tree names the model if there is no firmware data', async (t) => {
  const root = createTree(t, { 'proc/device-tree/model': 'Raspberry Pi 4 Model B Rev 1.4\0' });
  const { manufacturer, model, osName, hypervisorPresent, userCount } = await createLinuxReadings(root).system();
  assert.equal(model, 'Raspberry Pi 4 Model B Rev 1.4');
  assert.deepEqual([manufacturer, osName, hypervisorPresent, userCount], [null, null, null, null]);
});

test('static values are read once a minute, and sessions each time', async (t) => {
  const osRelease = 'etc/os-release';
  const root = createTree(t, { [osRelease]: 'PRETTY_NAME=Old', 'run/systemd/sessions/1': 'CLASS=user\n' });
  const readSystem = createLinuxReadings(root).system;
  const before = await readSystem();
  writeFileSync(join(root, osRelease), 'PRETTY_NAME=New');
  writeFileSync(join(root, 'run/systemd/sessions/2'), 'CLASS=user\n');
  const { osName, userCount } = await readSystem();
  assert.deepEqual([before.osName, before.userCount, osName, userCount], ['Old', 1, 'Old', 2]);
});

const hosts = `127.0.0.1 localhost
# 10.0.0.1 web.commented.example
127.0.1.1 web.example.org web # this machine
10.0.0.2 webmail.example.com
`;

test("the domain comes from the host's name or from /etc/hosts", () => {
  assert.equal(findDomain('db.example.net', hosts), 'example.net');
  assert.equal(findDomain('web', hosts), 'example.org');
  assert.equal(findDomain('mail', hosts), null);
  assert.equal(findDomain('localhost', ''), null);
});

const names: [string, string | null][] = [
  ['NAME=x\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', 'Debian GNU/Linux 12 (bookworm)'],
  ["PRETTY_NAME='Alpine Linux v3.20'", 'Alpine Linux v3.20'],
  ['PRETTY_NAME=Arch\r\n', 'Arch'],
  ['PRETTY_NAME="\\"Q\\" \\$1 \\\\"', '"Q" $1 \\'],
  ['PRETTY_NAME=""', null],
  ['NAME="Only a name"', null],
  ['', null],
];

for (const [content, name] of names) {
  test(`the os-release file ${JSON.stringify(content)} gives the name ${JSON.stringify(name)}`, () => {
    assert.equal(parseOsName(content), name);
  });
}

test('memory sizes are in bytes', () => {
  const meminfo = 'MemTotal:  24684084 kB\nMemFree: 1 kB\nMemAvailable:  200 kB\nSwapTotal: 8 kB\nSwapFree: 4 kB\n';
  assert.deepEqual(parseMemory(meminfo), {
    total: 24684084 * 1024,
    available: 200 * 1024,
    swapTotal: 8192,
    swapFree: 4096,
  });
});

test('memory sizes are those that free shows', async () => {
  await waitUntilPasses(async () => {
    const [, memory = '', swap = ''] = toLines(execFileSync('free', ['--bytes'], inEnglish));
    const { total, available, swapTotal, swapFree } = await createLinuxReadings().memory();
    const [, shownTotal, , , , , shownAvailable] = memory.split(/\s+/).map(Number);
    assert.equal(total, shownTotal);
    assert.ok(Math.abs(available - (shownAvailable ?? 0)) < total / 100, `${available}, ${shownAvailable}`);
    assert.deepEqual([swapTotal, swapTotal - swapFree], swap.split(/\s+/).slice(1, 3).map(Number));
  });
});

/** Creates records of a utmp file with the given types: 7 is a user's session, 2 the boot, 8 an ended session. */
const toUtmp = (length: number, ...types: number[]): Buffer => {
  const content = Buffer.alloc(length * types.length, 0x20);
  for (const [index, type] of types.entries()) {
    new Int16Array(content.buffer, content.byteOffset, content.length / 2)[(index * length) / 2] = type;
  }
  return content;
};

test('sessions of users are counted in records of either length', () => {
  assert.equal(countUtmpUsers(toUtmp(384, 2, 7, 8, 7)), 2);
  assert.equal(countUtmpUsers(toUtmp(400, 2, 7, 8)), 1);
  // Both lengths divide 9,600 bytes, so the processor decides.
  for (const arch of ['arm64', 'loong64', 's390x']) {
    assert.equal(countUtmpUsers(toUtmp(400, ...Array<number>(24).fill(7)), arch), 24, arch);
  }
  for (const arch of ['x64', 'ia32', 'arm', 'ppc64', 'riscv64']) {
    assert.equal(countUtmpUsers(toUtmp(384, ...Array<number>(25).fill(7)), arch), 25, arch);
  }
});

test('an empty utmp file has no users, and a damaged one no count', () => {
  assert.equal(countUtmpUsers(Buffer.alloc(0)), 0);
  assert.equal(countUtmpUsers(Buffer.alloc(383)), null);
});

test('sessions of systemd-logind take precedence over utmp', async (t) => {
  const run = createTree(t, {
    'systemd/sessions/1': 'UID=1000\nCLASS=user\nSTATE=active\n',
    'systemd/sessions/2': 'UID=1000\nCLASS=user\nSTATE=closing\n',
    'systemd/sessions/3': 'UID=1000\nCLASS=manager\nSTATE=active\n',
    'systemd/sessions/4/x': '',
    'systemd/sessions/1.ref': 'CLASS=user\n',
    utmp: toUtmp(384, 7, 7, 7),
  });
  assert.equal(await countUsers(run), 1);
});

test('without systemd-logind the users come from utmp, and without both the count is null', async (t) => {
  assert.equal(await countUsers(createTree(t, { utmp: toUtmp(384, 7) })), 1);
  assert.equal(await countUsers(createTree(t, {})), null);
});
