import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { openEvents } from '../../../test/support/events.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { cases } from '../../../test/support/long.ts';
import { waitUntil, waitUntilPasses } from '../../../test/support/wait.ts';

interface Answer {
  step: number;
  start: string;
  count: number;
  cpu: (number | null)[];
  memoryUsed: (number | null)[];
  memoryTotal: (number | null)[];
  alerts: Record<string, (number | null)[]>;
  disks: { mountPath: string; used: (number | null)[]; total: (number | null)[] }[];
}

const read = async ({ request }: TestApp, query = '?step=1'): Promise<Answer> =>
  (await request<Answer>('GET', `/api/history${query}`)).json;

const sum = (values: readonly (number | null)[] = []): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0);

const hasRead = async (app: TestApp): Promise<void> =>
  waitUntilPasses(async () => {
    const { cpu, disks } = await read(app);
    assert.ok(cpu.some((share) => share !== null));
    // On a busy machine, the last second may lack a reading.
    assert.ok(disks.some(({ total }) => total.some((bytes) => bytes !== null)));
  }, 30_000);

test('the history has usage of the machine for each second', async (t) => {
  const app = await startApp(t);
  await hasRead(app);
  const answer = await read(app);
  assert.equal(answer.step, 1);
  assert.match(answer.start, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d$/);
  for (const list of [answer.cpu, answer.memoryUsed, ...Object.values(answer.alerts)]) {
    assert.equal(list.length, answer.count);
  }
  for (const share of answer.cpu) assert.ok(share === null || (share >= 0 && share <= 1));
  const last = answer.memoryUsed.findLastIndex((bytes) => bytes !== null);
  const [used = 0, total = 0] = [answer.memoryUsed[last] ?? 1, answer.memoryTotal[last] ?? 0];
  assert.ok(used > 0 && used < total);
  assert.ok(answer.disks.some(({ mountPath }) => mountPath === '/'));
});

test('stored alerts are counted by severity, also before the first reading; refused alerts are not counted', async (t) => {
  const app = await startApp(t);
  for (const level of ['ERROR', 'error', 'INFO'])
    await app.request('POST', '/api/alert', { body: { message: 'a', level } });
  await app.request('POST', '/api/alert', { body: {} });
  await waitUntilPasses(async () => {
    const { alerts } = await read(app);
    assert.deepEqual([sum(alerts['error']), sum(alerts['info']), sum(alerts['warning'])], [2, 1, 0]);
  });
});

test('the history survives a restart, with a gap of unknown values', async (t) => {
  const dataDir = createFolder(t);
  const first = await startApp(t, { settings: { dataDir } });
  await hasRead(first);
  await first.request('POST', '/api/alert', { body: { message: 'a', level: 'ERROR' } });
  await waitUntilPasses(async () => assert.equal(sum((await read(first)).alerts['error']), 1));
  const before = await read(first);
  await first.close();
  assert.ok(statSync(join(dataDir, 'history.bin')).size < 4 * 1024 * 1024);
  const second = await startApp(t, { settings: { dataDir } });
  await hasRead(second);
  const after = await read(second);
  assert.equal(after.start, before.start);
  assert.equal(after.cpu[0], before.cpu[0]);
  assert.equal(sum(after.alerts['error']), 1);
  await waitUntilPasses(async () => assert.ok((await read(second)).count > before.count));
});

test('a damaged file is ignored', async (t) => {
  const dataDir = createFolder(t);
  const first = await startApp(t, { settings: { dataDir } });
  await hasRead(first);
  await first.close();
  const path = join(dataDir, 'history.bin');
  const bytes = readFileSync(path);
  for (const damaged of [bytes.subarray(1), Buffer.concat([Buffer.from('{"magic'), bytes.subarray(7)])]) {
    writeFileSync(path, damaged);
    const { request, close } = await startApp(t, { settings: { dataDir } });
    assert.equal((await request('GET', '/api/history')).status, 200);
    await close();
  }
});

test('a file with damaged numbers gives a valid document', async (t) => {
  const dataDir = createFolder(t);
  const first = await startApp(t, { settings: { dataDir } });
  await hasRead(first);
  await first.close();
  const path = join(dataDir, 'history.bin');
  const bytes = readFileSync(path);
  // Every value of the 600 one-second steps becomes infinite. The times do not change.
  const infinite = new Float32Array(600).fill(Infinity);
  bytes.set(new Uint8Array(infinite.buffer), 4096 + 4 * 600);
  writeFileSync(path, bytes);
  const second = await startApp(t, { settings: { dataDir } });
  assert.equal((await read(second)).cpu[0], null);
});

test('since leaves out earlier steps, as a time or as Unix seconds', async (t) => {
  const app = await startApp(t);
  await waitUntilPasses(async () => assert.ok((await read(app)).count >= 3));
  const { start } = await read(app);
  assert.equal((await read(app, `?step=1&since=${start}`)).start, start);
  const second = Math.floor(Date.parse(start) / 1000) + 1;
  for (const since of [String(second), new Date(second * 1000).toISOString()]) {
    assert.equal(Date.parse((await read(app, `?step=1&since=${since}`)).start) / 1000, second, since);
  }
  const future = await read(app, '?step=1&since=4000000000');
  assert.deepEqual([future.count, future.cpu], [0, []]);
});

test('an invalid step or time is refused with 400 and the allowed values', async (t) => {
  const { request } = await startApp(t);
  for (const [query, message] of [
    ['step=5', 'step must be one of 1, 10'],
    ['since=yesterday', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds'],
    ['since=2026-02-30T09:30:00Z', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds'],
    ['since=2026-01-31T09:30:00', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds'],
  ]) {
    const { status, json } = await request('GET', `/api/history?${query}`);
    assert.deepEqual([status, json['error']], [400, message]);
  }
});

test('listeners get each finished step in the form of the route', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'history');
  const listSteps = async (step: number, count: number): Promise<Answer[]> => {
    let found: Answer[] = [];
    await waitUntil(`${count} events of step ${step}`, async () => {
      found = client.events().flatMap(({ name, data }) => (name === 'history' ? [data as unknown as Answer] : []));
      found = found.filter((answer) => answer.step === step);
      return found.length >= count;
    });
    return found;
  };
  const steps = [
    [1, 3],
    [10, 1],
  ] as const;
  for (const [step, count] of cases(steps)) {
    const events = await listSteps(step, count);
    for (const [index, event] of events.entries()) {
      const { start, count: steps, step: _, ...answer } = await read(app, `?step=${step}&since=${event.start}`);
      assert.equal(start, event.start);
      assert.ok(steps >= event.count);
      const { start: __, count: ___, step: ____, ...columns } = event;
      assert.deepEqual(take(answer, event.count), columns);
      const next = events[index + 1];
      const seconds = next && (Date.parse(next.start) - Date.parse(start)) / 1000;
      assert.ok(seconds === undefined || seconds === step * event.count, 'no step is missing');
    }
  }
});

/** Cuts all lists of numbers within a value to the given length. */
const take = (value: unknown, count: number): unknown => {
  if (Array.isArray(value) && typeof value[0] !== 'object') return value.slice(0, count);
  if (Array.isArray(value)) return value.map((one) => take(one, count));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, take(member, count)]));
};

test('historyAuth bearer closes the topic history too', async (t) => {
  const app = await startApp(t, { settings: { historyAuth: 'bearer' } });
  assert.equal((await openEvents(t, app.url, 'history')).status, 401);
});

test('historyAuth bearer requires a token for the history', async (t) => {
  const app = await startApp(t, { settings: { historyAuth: 'bearer' } });
  assert.equal((await app.request('GET', '/api/history')).status, 401);
  assert.equal((await app.request('GET', '/api/history', { token: await app.login('reader') })).status, 200);
});

/** Writes a history file with the given disks and a value in every column of every step of the last day. */
const writeFile = (dataDir: string, disks: readonly string[], valueAt: (column: number, time: number) => number) => {
  const now = Math.floor(Date.now() / 1000);
  const header = Buffer.alloc(4096, ' ');
  header.write(JSON.stringify({ magic: 'signalbox history 2', disks }));
  const rings = [
    [1, 600],
    [10, 8640],
  ].map(([step = 1, size = 0]) => {
    const times = new Uint32Array(size);
    const values = new Float32Array(27 * size);
    for (let index = 0; index < size; index += 1) {
      const time = now - (now % step) - (index + 1) * step;
      const slot = (time / step) % size;
      times[slot] = time;
      for (let column = 0; column < 27; column += 1) values[column * size + slot] = valueAt(column, time);
    }
    return Buffer.concat([Buffer.from(times.buffer), Buffer.from(values.buffer)]);
  });
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'history.bin'), Buffer.concat([header, ...rings]));
};

const eightDisks = ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h'];

test('a day with eight disks is returned completely, to concurrent readers and to a single reader', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  writeFile(dataDir, eightDisks, (column, time) => column * 1000 + (time % 997));
  const app = await startApp(t, { settings: { dataDir } });
  const start = (await read(app, '?step=10')).start;
  const answers = await Promise.all(['', '', `&since=${start}`].map((since) => read(app, `?step=10${since}`)));
  for (const { count, cpu, alerts, disks, ...answer } of answers) {
    const first = Date.parse(answer.start) / 1000;
    const listExpected = (column: number) =>
      Array.from({ length: 8630 }, (_, index) => Math.round(column * 1000 + ((first + 10 * index) % 997)));
    assert.ok(count >= 8630);
    assert.deepEqual(
      cpu.slice(0, 8630).map((value) => Math.round(value ?? -1)),
      listExpected(0),
    );
    assert.deepEqual(alerts['info']?.slice(0, 8630), listExpected(10));
    assert.deepEqual(
      disks.slice(1).map(({ mountPath }) => mountPath),
      eightDisks.slice(1),
    );
    assert.deepEqual(disks.at(-1)?.total.slice(0, 8630), listExpected(26));
  }
});

test('a new disk replaces a disk without readings, or else the disk that was seen longest ago', async (t) => {
  const isEmpty = (column: number) => Math.floor((column - 11) / 2) === 3;
  const hasLeft = (column: number, time: number) =>
    Math.floor((column - 11) / 2) === 5 && time > Date.now() / 1000 - 600;
  for (const [gone, isUnknown] of [
    ['/d', isEmpty],
    ['/f', hasLeft],
  ] as const) {
    const dataDir = join(createFolder(t), 'data');
    writeFile(dataDir, eightDisks, (column, time) => (isUnknown(column, time) ? Number.NaN : 1));
    const app = await startApp(t, { settings: { dataDir } });
    await waitUntilPasses(async () => {
      const { disks } = await read(app, '?step=1');
      const root = disks.find(({ mountPath }) => mountPath === '/');
      assert.ok((root?.total.at(-1) ?? 0) > 0);
      assert.ok(
        root?.total.every((value) => value !== 1),
        'readings of the former disk',
      );
      assert.equal(
        disks.some(({ mountPath }) => mountPath === gone),
        false,
      );
    });
  }
});

test('a file of version 1.0 is read, and its alerts with unknown levels count as warnings', async (t) => {
  const dataDir = createFolder(t);
  const first = await startApp(t, { settings: { dataDir } });
  await hasRead(first);
  await first.request('POST', '/api/alert', { body: { message: 'a', level: 'WARN' } });
  await waitUntilPasses(async () => assert.equal(sum((await read(first)).alerts['warning']), 1));
  await first.close();
  const path = join(dataDir, 'history.bin');
  const bytes = readFileSync(path);
  const header = Buffer.from(bytes.toString('latin1', 0, 4096).replace('history 2', 'history 1'), 'latin1');
  // A ring has times, 7 host columns and 4 alert columns. Version 1.0 has a fifth alert column before the disks.
  const addColumn = (ring: Buffer, steps: number, value: number): Buffer => {
    const at = 4 * steps * (1 + 7 + 4);
    const column = Buffer.from(new Float32Array(steps).fill(value).buffer);
    return Buffer.concat([ring.subarray(0, at), column, ring.subarray(at)]);
  };
  const coarseAt = 4096 + 4 * 600 * (1 + 7 + 4 + 16);
  const rings = [addColumn(bytes.subarray(4096, coarseAt), 600, 2), addColumn(bytes.subarray(coarseAt), 8640, 0)];
  writeFileSync(path, Buffer.concat([header, ...rings]));
  const second = await startApp(t, { settings: { dataDir } });
  const { count, cpu, alerts, disks } = await read(second);
  const known = cpu.filter((share) => share !== null).length;
  assert.ok(count >= known && known > 0);
  assert.equal(sum(alerts['warning']), 1 + 2 * known);
  assert.ok(disks.some(({ mountPath }) => mountPath === '/'));
});
