import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUnits } from '../../../host/linux/systemd.ts';
import type { WatchSettings } from '../schema.ts';
import type { Finding, WatchReadings } from '../watch-type.ts';
import { serviceWatch } from './service.ts';

/** Output of systemd 255 with `--plain --no-legend`. */
const output = `
dbus.service                loaded    active   running D-Bus System Message Bus
demo.service                loaded    failed   failed  Demo
● gone.service                not-found inactive dead    gone.service
backup.service              loaded    inactive dead    Backup
nginx.service               loaded    activating auto-restart Web server
proc-sys.automount          loaded    active   waiting Arbitrary Executable File Formats
`;

const check = (settings: Omit<WatchSettings, 'name' | 'type'>, text: string | null = output): Promise<Finding[]> => {
  const units = async () => (text === null ? null : parseUnits(text));
  const readings = { host: { units } } as unknown as WatchReadings;
  return serviceWatch.check({ name: 'a', type: 'service', ...settings }, readings, AbortSignal.timeout(1000));
};

test('a service watch requires units that run or are starting, and cannot check missing units', async () => {
  const found = await check({ units: ['dbus', 'nginx.service', 'backup', 'demo', 'gone', 'no*'] });
  assert.deepEqual(
    found.map((finding) => ('isBad' in finding ? [finding.isBad, finding.words] : finding.words)),
    [
      [false, 'dbus.service is active (running)'],
      [false, 'nginx.service is activating (auto-restart)'],
      [true, 'backup.service is inactive (dead)'],
      [true, 'demo.service has failed'],
      'systemd has no unit gone.service',
      'systemd has no unit no*',
    ],
  );
});

test('a service watch with `failed` counts only failed units, and without systemd it cannot check any unit', async () => {
  assert.deepEqual(
    (await check({ failed: true })).map(({ words }) => words),
    ['demo.service has failed'],
  );
  assert.deepEqual(await check({ failed: true, units: ['b*'] }), []);
  await assert.rejects(check({ failed: true }, null), /systemd is not running on this machine/);
  await assert.rejects(check({ units: ['a'] }, null), /systemd is not running on this machine/);
});

test('a name without the suffix of a unit is the name of a service, and `except` leaves units out', async () => {
  const dotted = `${output}openvpn@site.example.service loaded active running OpenVPN\ndata.mount loaded active mounted /data\n`;
  const found = await check(
    { units: ['openvpn@site.example', 'data.mount', 'd*'], except: ['demo.*', 'data*'] },
    dotted,
  );
  assert.deepEqual(
    found.map(({ words }) => words),
    [
      'openvpn@site.example.service is active (running)',
      'dbus.service is active (running)',
      'systemd has no unit data.mount',
    ],
  );
  const failed = await check({ failed: true, units: ['demo'] });
  assert.deepEqual(
    failed.map(({ thing }) => thing),
    ['demo.service'],
  );
  assert.deepEqual(await check({ failed: true, except: ['demo*'] }), []);
});
