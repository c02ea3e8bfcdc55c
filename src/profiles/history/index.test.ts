import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { waitUntilPasses } from '../../../test/support/wait.ts';

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
    assert.ok((disks[0]?.total.at(-1) ?? 0) > 0);
  });

test('the history has numbers of the machine for each second', async (t) => {
  const app = await startApp(t);
  await hasRead(app);
  const answer = await read(app);
  assert.equal(answer.step, 1);
  assert.match(answer.start, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d$/);
  for (const list of [answer.cpu, answer.memoryUsed, ...Object.values(answer.alerts)]) {
    assert.equal(list.length, answer.count);
  }
  for (const share of answer.cpu) assert.ok(share === null || (share >= 0 && share <= 1));
  const [used = 0, total = 0] = [answer.memoryUsed.at(-1) ?? 1, answer.memoryTotal.at(-1) ?? 0];
  assert.ok(used > 0 && used < total);
  assert.ok(answer.disks.some(({ mountPath }) => mountPath === '/'));
});

test('stored alerts are counted by level, and refused ones are not', async (t) => {
  const app = await startApp(t);
  await hasRead(app);
  for (const level of ['ERROR', 'error', 'INFO'])
    await app.request('POST', '/api/alert', { body: { message: 'a', level } });
  await app.request('POST', '/api/alert', { body: {} });
  await waitUntilPasses(async () => {
    const { alerts } = await read(app);
    assert.deepEqual([sum(alerts['error']), sum(alerts['info']), sum(alerts['warning'])], [2, 1, 0]);
  });
});

test('the history is kept across a restart, with a gap of unknown values', async (t) => {
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

test('a file with damaged numbers gives a document that can be read', async (t) => {
  const dataDir = createFolder(t);
  const first = await startApp(t, { settings: { dataDir } });
  await hasRead(first);
  await first.close();
  const path = join(dataDir, 'history.bin');
  const bytes = readFileSync(path);
  // All values of the 600 steps of a second become infinite; their times stay.
  const infinite = new Float32Array(600).fill(Infinity);
  bytes.set(new Uint8Array(infinite.buffer), 4096 + 4 * 600);
  writeFileSync(path, bytes);
  const second = await startApp(t, { settings: { dataDir } });
  assert.equal((await read(second)).cpu[0], null);
});

test('since leaves out earlier steps, as a time or as Unix seconds', async (t) => {
  const app = await startApp(t);
  await waitUntilPasses(async () => assert.ok((await read(app)).count >= 4));
  const { start } = await read(app);
  assert.equal((await read(app, `?step=1&since=${start}`)).start, start);
  const second = Math.floor(Date.parse(start) / 1000) + 2;
  for (const since of [String(second), new Date(second * 1000).toISOString()]) {
    assert.equal(Date.parse((await read(app, `?step=1&since=${since}`)).start) / 1000, second, since);
  }
  const future = await read(app, '?step=1&since=4000000000');
  assert.deepEqual([future.count, future.cpu], [0, []]);
});

test('an unknown step or time is 400 and says what is allowed', async (t) => {
  const { request } = await startApp(t);
  for (const [query, message] of [
    ['step=5', 'step must be 1 or 10'],
    ['since=yesterday', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds'],
    ['since=2026-02-30T09:30:00Z', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds'],
    ['since=2026-01-31T09:30:00', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds'],
  ]) {
    const { status, json } = await request('GET', `/api/history?${query}`);
    assert.deepEqual([status, json['error']], [400, message]);
  }
});

test('historyAuth bearer closes the history to all but holders of a token', async (t) => {
  const app = await startApp(t, { settings: { historyAuth: 'bearer' } });
  assert.equal((await app.request('GET', '/api/history')).status, 401);
  assert.equal((await app.request('GET', '/api/history', { token: await app.login('reader') })).status, 200);
});
