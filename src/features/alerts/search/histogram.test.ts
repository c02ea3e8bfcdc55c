import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeJournal, disk, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { fc } from '../../../../test/support/random.ts';
import { minuteMs } from '../../../lib/units.ts';
import type { Journal } from '../../../storage/journal/journal.ts';

interface Histogram {
  since: string;
  until: string;
  bucketSeconds: number;
  complete: boolean;
  buckets: { time: string; count: number; levels: Record<string, number> }[];
}

const count = async (app: TestApp, query = ''): Promise<Histogram> => {
  const { status, json } = await app.request<Histogram>('GET', `/api/alerts/histogram${query}`);
  assert.equal(status, 200);
  return json;
};

test('by default the histogram counts the last 24 hours by hour and severity', async (t) => {
  const app = await startApp(t);
  for (const level of ['ERROR', 'ERROR', 'INFO', '__proto__', '']) await sendAlert(app, { ...disk, level });
  const { since, until, bucketSeconds, complete, buckets } = await count(app);
  assert.deepEqual([bucketSeconds, complete, buckets.length], [3600, true, 24]);
  const [begin, end] = [Date.parse(since), Date.parse(until)];
  assert.ok(end >= Date.now() - 5000 && end - begin === 24 * 60 * minuteMs);
  assert.deepEqual(
    buckets.map(({ time }) => Date.parse(time)),
    Array.from({ length: 24 }, (_, index) => begin + index * bucketSeconds * 1000),
  );
  const levels = { ERROR: 2, WARNING: 2, INFO: 1 };
  assert.deepEqual(JSON.parse(JSON.stringify(buckets.findLast((bucket) => bucket.count > 0))), {
    time: buckets.findLast((bucket) => bucket.count > 0)?.time,
    count: 5,
    levels,
  });
  assert.equal((await count(app, '?level=error')).buckets.findLast((bucket) => bucket.count > 0)?.count, 2);
  assert.equal(
    (await count(app, '?level=WARN')).buckets.findLast((bucket) => bucket.count > 0),
    undefined,
  );
});

test('counts are exact for any range and number of buckets', async (t) => {
  let journal: Journal | undefined;
  const features = changeJournal((opened) => {
    journal = opened;
    return opened;
  });
  const app = await startApp(t, { features });
  const start = Date.parse('2026-01-31T00:00:00Z');
  const times = Array.from({ length: 400 }, (_, index) => start + ((index * 7919) % 3000) * 47_000);
  await journal?.appendAll(times.map((time) => ({ time: new Date(time).toISOString(), level: 'ERROR', message: 'x' })));
  const check = async (from: number, length: number, most: number): Promise<void> => {
    const [since, until] = [start + from * 1000, start + (from + length) * 1000];
    const query = `?since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}&buckets=${most}`;
    const found = await count(app, query);
    assert.ok(found.buckets.length <= most && found.complete);
    assert.ok(Date.parse(found.since) <= since && Date.parse(found.since) > since - minuteMs);
    assert.ok(Date.parse(found.until) >= until);
    for (const { time, count: total, levels } of found.buckets) {
      const begin = Date.parse(time);
      const end = begin + found.bucketSeconds * 1000;
      const expected = times.filter((one) => one >= begin && one < end).length;
      assert.deepEqual([total, levels], [expected, expected === 0 ? {} : { ERROR: expected }]);
    }
  };
  const seconds = fc.integer({ min: 0, max: 150_000 });
  await fc.assert(
    fc.asyncProperty(seconds, fc.integer({ min: 1, max: 150_000 }), fc.integer({ min: 1, max: 500 }), check),
    { numRuns: 60 },
  );
});

test('alerts of 301 different levels are all counted', async (t) => {
  const app = await startApp(t);
  await Promise.all(Array.from({ length: 300 }, (_, index) => sendAlert(app, { level: `level ${index}` })));
  await sendAlert(app, { level: 'ERROR' });
  const { buckets } = await count(app, '?buckets=1');
  assert.deepEqual([buckets[0]?.count, buckets[0]?.levels], [301, { ERROR: 1, WARNING: 300 }]);
});

test('a histogram with filters counts the alerts that a search with these filters finds', async (t) => {
  const app = await startApp(t);
  for (const [source, hostname, level, message] of [
    ['shop', 'web-1', 'ERROR', 'the disk is full'],
    ['shop', 'web-1', 'CRITICAL', 'out of memory'],
    ['shop', 'web-2', 'ERROR', 'the disk is slow'],
    ['backup', 'web-1', 'ERROR', 'the disk is gone'],
  ]) {
    await sendAlert(app, { source, hostname, level, message });
  }
  await sendAlert(app, { source: 'mail', level: 'ERROR', message: 'bounced', key: 'mail', status: 'firing' });
  const plain = ['source=SHOP', 'hostname=web-1', 'q=Disk', 'status=firing', 'source=shop&q=disk&level=error'];
  for (const filter of [...plain, 'source=s*', 'hostname=*-2', 'level=e*r']) {
    for (const more of ['', '&severity=critical', '&since=2026-01-01T00:00:00Z', '&until=2026-01-01T00:00:00Z']) {
      const query = `${filter}${more}`;
      const { json } = await app.request<{ count: number; data: { severity: string }[] }>(
        'GET',
        `/api/alerts/search?${query}`,
      );
      const { buckets, complete } = await count(app, `?${query}`);
      const levels: Record<string, number> = {};
      for (const { severity } of json.data) levels[severity] = (levels[severity] ?? 0) + 1;
      const found = buckets.flatMap((bucket) => Object.entries(bucket.levels));
      assert.deepEqual(Object.fromEntries(found), levels, query);
      assert.equal(complete, true, query);
    }
  }
  const { status, json } = await app.request('GET', '/api/alerts/histogram?source=shop&severity=loud');
  assert.deepEqual([status, /severity must be one of/.test(String(json['error']))], [400, true]);
});
