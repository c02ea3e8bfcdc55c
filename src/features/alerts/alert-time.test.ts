import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { fc } from '../../../test/support/random.ts';
import { extension, loader } from '../../../test/support/source.ts';

const run = promisify(execFile);
const module = new URL(`./alert${extension}`, import.meta.url).href;

/** Script that prints the times of alerts received at given moments. */
const script = `
  import { createAlert } from ${JSON.stringify(module)};
  const instants = JSON.parse(process.argv[1]);
  const alerts = instants.map((instant) => createAlert({ message: 'x' }, { now: new Date(instant), sender: '' }));
  process.stdout.write(JSON.stringify(alerts.map(({ time, timestamp }) => ({ time, timestamp }))));`;

const createTimes = async (zone: string, instants: number[]): Promise<{ time: string; timestamp: string }[]> => {
  const args = [...loader, '--input-type=module', '-e', script, JSON.stringify(instants)];
  const { stdout } = await run(process.execPath, args, { env: { TZ: zone } });
  return JSON.parse(stdout);
};

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Pacific/Marquesas',
  'Africa/Casablanca',
];

/** Hours around the 2026 clock changes in Europe, North America and on Lord Howe Island. */
const changes = ['2026-03-29T01:00Z', '2026-10-25T01:00Z', '2026-11-01T06:00Z', '2026-04-04T15:00Z'].flatMap((text) =>
  [-3_600_001, -3_600_000, -1, 0, 1, 3_599_999, 3_600_000].map((ms) => Date.parse(text) + ms),
);

const anyInstant = fc.integer({ min: Date.parse('2000-01-01T00:00Z'), max: Date.parse('2100-01-01T00:00Z') });

for (const zone of zones) {
  test(`in ${zone}, the time of an alert is its instant, and the timestamp the local time`, async () => {
    const instants = [...changes, ...fc.sample(anyInstant, 150)];
    for (const [index, { time, timestamp }] of (await createTimes(zone, instants)).entries()) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
      assert.equal(Date.parse(time), instants[index], time);
      assert.equal(time.slice(0, 19), timestamp);
    }
  });
}

test('the time of an alert has the UTC offset that applies at its instant', async () => {
  const instants = [Date.parse('2026-11-22T09:15:30.123Z'), Date.parse('2026-07-01T12:00Z')];
  const times = (await createTimes('Europe/Berlin', instants)).map(({ time }) => time);
  assert.deepEqual(times, ['2026-11-22T10:15:30.123+01:00', '2026-07-01T14:00:00.000+02:00']);
  const [west] = await createTimes('America/St_Johns', [Date.parse('2026-01-01T00:00Z')]);
  assert.equal(west?.time, '2025-12-31T20:30:00.000-03:30');
});
