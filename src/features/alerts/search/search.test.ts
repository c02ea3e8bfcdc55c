import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { changeJournal, disk, fileOf, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { fc } from '../../../../test/support/random.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import type { Journal } from '../../../storage/journal/journal.ts';
import type { AlertEntry } from '../schema.ts';

interface Page {
  count: number;
  data: AlertEntry[];
  next: number | null;
}

const search = async (app: TestApp, query: Record<string, string | number> = {}): Promise<Page> => {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, `${value}`] as [string, string]),
  );
  const { status, json } = await app.request<Page>('GET', `/api/alerts/search?${text}`);
  assert.equal(status, 200);
  assert.equal(json.count, json.data.length);
  return json;
};

const messagesOf = ({ data }: Page): string[] => data.map(({ message }) => message);

/** Starts an app and returns its journal, to append records that requests cannot send. */
const startWithJournal = async (t: TestContext): Promise<{ app: TestApp; journal: Journal }> => {
  let journal: Journal | undefined;
  const features = changeJournal((opened) => {
    journal = opened;
    return opened;
  });
  const app = await startApp(t, { features });
  assert.ok(journal);
  return { app, journal };
};

/** Returns the number of an alert's incident. */
const toNumber = (incident: unknown): unknown => (incident as { number?: unknown } | null)?.number;

/** Fields that few alerts have. */
const unset = { details: null, links: null, resolves: null, resolvedBy: null, repeatOf: null };

const foreign = {
  timestamp: '2026-01-31T09:30:00',
  receivedAt: '09:30:00',
  time: '2026-01-31T09:30:00.000+01:00',
  sender: 'key:am',
  source: 'alertmanager/Disk',
  level: 'CRITICAL',
  message: 'Disk is full',
  hostname: 'web-2',
  format: 'alertmanager',
  status: 'firing',
  fingerprint: 'f00',
  startsAt: '2026-01-31T08:00:00Z',
  labels: { severity: 'critical' },
  link: 'https://am.example.org/',
  key: 'secret key',
  via: 'signalbox/a',
};

test('search returns alerts with all their fields, newest first', async (t) => {
  const { app, journal } = await startWithJournal(t);
  assert.deepEqual(await search(app), { count: 0, data: [], next: null });
  const id = await sendAlert(app, disk);
  const [other] = await journal.appendAll([foreign]);
  const { data: found, next } = await search(app);
  assert.equal(next, null);
  const data = found.map(({ incident, ...alert }) => ({ ...alert, number: toNumber(incident) }));
  const { startsAt: _, key: __, via: ___, ...shown } = foreign;
  assert.deepEqual(data[0], { ...shown, ...unset, id: other?.id, seq: 2, severity: 'CRITICAL', number: 2 });
  const { time, timestamp, receivedAt, ...native } = data[1] ?? {};
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
  assert.equal(`${timestamp}${receivedAt}`, `${String(time).slice(0, 19)}${String(time).slice(11, 19)}`);
  const none = { status: null, sender: 'address:127.0.0.1', fingerprint: null, labels: null, link: null, ...unset };
  assert.deepEqual(native, { seq: 1, id, format: 'native', ...none, ...disk, severity: 'ERROR', number: 1 });
});

test('filters match whole texts in any case, and q matches part of the message', async (t) => {
  const { app, journal } = await startWithJournal(t);
  await sendAlert(app, disk);
  await journal.append(foreign);
  await sendAlert(app, { message: 'ÜBERLAUF', level: 'error' });
  for (const [query, expected] of [
    [{ level: 'ERROR' }, ['ÜBERLAUF', 'sda1 is full']],
    [{ level: 'RROR' }, []],
    [{ source: 'alertmanager/Disk' }, ['Disk is full']],
    [{ source: 'AlertManager/disk' }, ['Disk is full']],
    [{ hostname: 'WEB-1' }, ['sda1 is full']],
    [{ hostname: 'WEB-*' }, ['Disk is full', 'sda1 is full']],
    [{ source: '*/d*' }, ['Disk is full']],
    [{ level: 'Crit*', status: '*' }, ['Disk is full']],
    [{ q: '*' }, []],
    [{ status: 'FIRING' }, ['Disk is full']],
    [{ q: 'IS FULL' }, ['Disk is full', 'sda1 is full']],
    [{ q: 'überl' }, ['ÜBERLAUF']],
    [{ q: 'is full', hostname: 'web-2' }, ['Disk is full']],
    [{ until: '2026-02-01T00:00:00Z' }, ['Disk is full']],
    [{ since: '2026-01-31T08:30:00Z', until: '2026-01-31T08:30:00.001Z' }, ['Disk is full']],
    [{ since: '2026-01-31T08:00:00Z', until: '2026-01-31T08:30:00Z' }, []],
    [{ since: '2026-01-31T09:30:00.000+01:00', until: '2026-02-01T00:00:00+01:00' }, ['Disk is full']],
    [{ since: '2026-02-01T00:00:00-12:00' }, ['ÜBERLAUF', 'sda1 is full']],
    [{ before: 3 }, ['Disk is full', 'sda1 is full']],
    [{ before: 1 }, []],
  ] as const) {
    assert.deepEqual(messagesOf(await search(app, query)), expected, JSON.stringify(query));
  }
});

test('a plus sign in a time need not be encoded', async (t) => {
  const { app, journal } = await startWithJournal(t);
  await journal.append(foreign);
  const { json } = await app.request<Page>('GET', '/api/alerts/search?since=2026-01-31T09:30:00+01:00');
  assert.equal(json.count, 1);
});

test('pages of any size return every alert exactly once', async (t) => {
  const app = await startApp(t);
  const count = 57;
  for (let n = 1; n <= count; n += 1) await sendAlert(app, { message: `${n}`, level: n % 2 === 0 ? 'even' : 'odd' });
  const readAll = async (query: Record<string, string | number>): Promise<{ seqs: number[]; pages: number }> => {
    const seqs: number[] = [];
    for (let pages = 1, before = {}; ; pages += 1) {
      const page = await search(app, { ...query, ...before });
      seqs.push(...page.data.map(({ seq }) => seq));
      if (page.next === null) return { seqs, pages };
      before = { before: page.next };
    }
  };
  const all = Array.from({ length: count }, (_, index) => count - index);
  const check = async (limit: number, level: string | undefined): Promise<void> => {
    const { seqs } = await readAll({ limit, ...(level !== undefined && { level }) });
    assert.deepEqual(
      seqs,
      all.filter((seq) => level === undefined || level === (seq % 2 === 0 ? 'even' : 'odd')),
    );
  };
  const level = fc.constantFrom(undefined, 'even', 'odd', 'neither');
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 80 }), level, check), { numRuns: 40 });
  assert.deepEqual(await readAll({ limit: count }), { seqs: all, pages: 1 });
  assert.equal((await readAll({ limit: 19 })).pages, 3);
  assert.equal((await search(app)).count, 50);
});

test('a page ends early after 1 MiB of alerts', async (t) => {
  const app = await startApp(t);
  for (let n = 0; n < 4; n += 1) await sendAlert(app, { message: `${n}`.repeat(600_000) });
  const first = await search(app);
  assert.deepEqual([first.count, first.next], [2, 3]);
  assert.deepEqual((await search(app, { before: 3 })).next, null);
});

for (const [query, error] of [
  ['since=yesterday', 'since must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z'],
  ['until=2026-01-31T09:30:00', 'until must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z'],
  ['until=2026-02-30T09:30:00Z', 'until must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z'],
  ['since=2026-01-31', 'since must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z'],
  ['since=2026-01-31T24:30:00Z', 'since must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z'],
  ['since=2026-01-31T09:30:00Z&until=2026-01-31T09:30:00Z', 'since must be before until'],
] as const) {
  test(`search and histogram refuse ${query}`, async (t) => {
    const app = await startApp(t);
    for (const route of ['search', 'histogram']) {
      const { status, json } = await app.request('GET', `/api/alerts/${route}?${query}`);
      assert.deepEqual([status, json], [400, { error }]);
    }
  });
}

test('a number out of bounds gets 400, which names the parameter', async (t) => {
  const app = await startApp(t);
  for (const [path, error] of [
    ['search?limit=0', 'limit must be at least 1'],
    ['search?limit=1001', 'limit must be at most 1000'],
    ['search?limit=x', 'limit must be a whole number in decimal digits'],
    ['search?before=0', 'before must be at least 1'],
    ['search?level=a&level=b', 'level is given more than once'],
    ['histogram?buckets=501', 'buckets must be at most 500'],
    ['histogram?buckets=0', 'buckets must be at least 1'],
  ]) {
    const { status, json } = await app.request('GET', `/api/alerts/${path}`);
    assert.deepEqual([status, json], [400, { error }]);
  }
});

test('an alert is returned by its id with its incident and its deliveries', async (t) => {
  const { app, journal } = await startWithJournal(t);
  const id = await sendAlert(app, disk);
  const [other] = await journal.appendAll([foreign]);
  const native = await app.request('GET', `/api/alerts/${id.toUpperCase()}`);
  assert.deepEqual([native.status, native.json['message']], [200, 'sda1 is full']);
  const { status, json } = await app.request('GET', `/api/alerts/${other?.id}`);
  const { incident, ...alert } = json;
  const { key: _, ...shown } = foreign;
  assert.deepEqual(
    [status, toNumber(incident), alert],
    [200, 2, { ...shown, ...unset, id: other?.id, seq: 2, severity: 'CRITICAL', endsAt: null, deliveries: [] }],
  );
});

test('an unknown id gets 404', async (t) => {
  const app = await startApp(t);
  await sendAlert(app, disk);
  for (const id of [
    '1',
    'searches',
    '019c1336-f7c0-7d4e-9a3c-0446abab8810',
    '25d37939-e0b7-418e-85b2-0446abab8810',
    '%22',
  ]) {
    const { status, json } = await app.request('GET', `/api/alerts/${id}`);
    assert.deepEqual([status, json], [404, { error: 'Alert not found' }], id);
  }
});

test('search ignores lines written by hand', async (t) => {
  const app = await startApp(t);
  await appendFile(fileOf(app), '{"message":"by hand"}\n');
  await sendAlert(app, disk);
  assert.deepEqual(messagesOf(await search(app)), ['sda1 is full']);
});

test('of 40 simultaneous searches, 2 run, 32 wait and 6 get 503', async (t) => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let most = 0;
  let running = 0;
  const features = changeJournal((journal) => ({
    ...journal,
    search: async (...args) => {
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
      return journal.search(...args);
    },
  }));
  const app = await startApp(t, { features });
  let refused = 0;
  const statuses = Array.from({ length: 40 }, async () => {
    const { status, headers } = await fetch(`${app.url}/api/alerts/search`);
    if (status === 503) {
      refused += 1;
      assert.equal(headers.get('retry-after'), '1');
    }
    return status;
  });
  await waitUntil('searches are refused', () => refused === 6);
  open();
  assert.equal((await Promise.all(statuses)).filter((status) => status === 200).length, 34);
  assert.equal(most, 2);
});
