import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FiringWatchAlert } from './firing-alerts.ts';
import { toKnownWatch } from './known-watch.ts';
import { WatchRunner } from './runner.ts';
import type { WatchSettings } from './schema.ts';
import { type Finding, toPercentText } from './watch-type.ts';

const settings: WatchSettings = { name: 'var', type: 'disk', limit: 90, critical: 97, for: 60 };

/** Creates a runner with a clock that the test controls and a log of alerts that can fail. */
const createRunner = (
  alerts: ReadonlyMap<string, FiringWatchAlert> = new Map(),
  watch = settings,
  past: number[] = [],
) => {
  const stored: string[] = [];
  const failures: string[] = [];
  const state = { now: 0, time: Date.parse('2026-01-31T08:30:00Z'), isFailing: false };
  const runner = new WatchRunner(
    toKnownWatch(watch, 'config'),
    {
      place: 'db-1',
      clock: () => new Date(state.time),
      now: () => state.now,
      readPast: async () => ({ figures: past, stepMs: 10_000 }),
      onUnstored: ({ message }) => failures.push(message),
      raise: async ({ status, level, message, fingerprint, resolves = '' }) => {
        if (state.isFailing) throw new Error('the disk is full');
        stored.push([status, level, message, fingerprint, resolves].filter(Boolean).join(' | '));
        return { id: `id-${stored.length}` };
      },
    },
    alerts,
  );
  const take = (figure: number, thing = '/var') => runner.take([find(figure, thing)]);
  return { runner, stored, failures, state, take };
};

const find = (figure: number, thing = '/var'): Finding => ({
  thing,
  figure,
  toText: toPercentText,
  words: `${thing} is ${toPercentText(figure)} full`,
});

test('after a restart, a watch has been firing since the time of its alert', async () => {
  const at = Date.parse('2026-01-31T08:00:00Z');
  const hex = at.toString(16).padStart(12, '0');
  const alert = { id: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`, level: 'WARNING' };
  const { take, runner, state } = createRunner(new Map([['var/db-1//var', alert]]));
  for (const now of [0, 10_000]) {
    state.now = now;
    await take(92);
    assert.deepEqual(
      runner.list().map(({ state: how, since }) => [how, since]),
      [['firing', '2026-01-31T08:00:00.000Z']],
    );
  }
});

test('a watch raises one alert for each level, with the figure and the limit in words, and measures `for` by a monotonic clock', async () => {
  const { stored, state, take, runner } = createRunner();
  await take(91.34);
  // The clock is set an hour ahead, then a day back.
  state.time += 3_600_000;
  state.now += 59_000;
  await take(92);
  assert.deepEqual(stored, []);
  assert.equal(runner.list()[0]?.state, 'pending');
  state.time -= 86_400_000;
  state.now += 1000;
  await take(92);
  await take(98);
  state.now += 60_000;
  await take(98);
  await take(94);
  await take(10);
  assert.deepEqual(stored, [
    'firing | WARNING | /var is 92 % full, limit 90 % | var/db-1//var',
    'firing | CRITICAL | /var is 98 % full, limit 97 % | var/db-1//var',
    'firing | WARNING | /var is 94 % full, limit 90 % | var/db-1//var',
    'resolved | INFO | Resolved: /var is 10 % full | var/db-1//var | id-3',
  ]);
});

test('an alert that was not stored is repeated after the next check, unless it is outdated', async () => {
  const { stored, failures, state, take } = createRunner(new Map(), { ...settings, for: 0 });
  state.isFailing = true;
  await take(91);
  await take(92);
  assert.deepEqual([stored, failures], [[], ['the disk is full', 'the disk is full']]);
  await take(50);
  state.isFailing = false;
  await take(50);
  assert.deepEqual(stored, []);
  await take(93);
  assert.equal(stored.length, 1);
});

test('alerts that fire by the log are not raised again, and alerts of good or missing things are resolved', async () => {
  const alerts = new Map([
    ['var/db-1//var', { id: 'a', level: 'CRITICAL' }],
    ['var/db-1//srv', { id: 'b', level: 'WARNING' }],
    ['var/db-1//gone', { id: 'c', level: 'WARNING' }],
    ['var/db-1/?/mnt', { id: 'd', level: 'WARNING' }],
    ['var/db-2//var', { id: 'e', level: 'WARNING' }],
    ['other/db-1//var', { id: 'f', level: 'WARNING' }],
  ]);
  const { runner, stored } = createRunner(alerts);
  await runner.take([find(98), find(20, '/srv'), find(91, '/mnt')]);
  assert.deepEqual(stored, [
    'resolved | INFO | Resolved: /srv is 20 % full | var/db-1//srv | b',
    'resolved | INFO | Resolved: /gone no longer exists | var/db-1//gone | c',
    'resolved | INFO | Resolved: /mnt is 91 % full | var/db-1/?/mnt | d',
  ]);
  assert.deepEqual([...runner.listAlerts()], [['var/db-1//var', { id: 'a', level: 'CRITICAL' }]]);
});

test('a failed check leaves firing alerts as they are, and is reported for the whole watch', async () => {
  const { runner, stored, state, take } = createRunner();
  await take(91);
  state.now += 60_000;
  await take(91);
  await runner.take(new Error('the disks cannot be read'));
  state.now += 60_000;
  await runner.take(new Error('the disks cannot be read'));
  await take(91);
  assert.deepEqual(stored, [
    'firing | WARNING | /var is 91 % full, limit 90 % | var/db-1//var',
    'firing | WARNING | Watch var cannot run its check: the disks cannot be read | var/db-1/?*',
    'resolved | INFO | Resolved: watch var can run its check again | var/db-1/?* | id-2',
  ]);
});

test('recent figures begin with those of the history, and a changed watch continues them', async () => {
  const { runner, state, take } = createRunner(new Map(), settings, [Number.NaN, 50, 92, 60]);
  state.now = 45_000;
  await take(70);
  const recent = runner.listWithRecent()[0]?.recent;
  assert.deepEqual(recent, {
    start: '2026-01-31T08:29:30.000Z',
    step: 15,
    figures: [92, 60, 70],
    bad: [true, false, false],
  });
  const next = createRunner(new Map(), { ...settings, limit: 10 });
  next.state.now = 60_000;
  next.runner.continueFrom(runner);
  await next.take(80);
  assert.deepEqual(next.runner.listWithRecent()[0]?.recent?.figures, [92, 60, 70, 80]);
  const other = createRunner(new Map(), { ...settings, metric: 'inodes' });
  other.runner.continueFrom(runner);
  await other.take(80);
  assert.deepEqual(other.runner.listWithRecent()[0]?.recent?.figures, [80]);
});
