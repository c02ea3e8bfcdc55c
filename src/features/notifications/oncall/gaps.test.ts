import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { dayMs } from '../../../lib/units.ts';

const handover = { every: '1 week', at: 'Mon 09:00' };
const always = { people: ['admin'], handover };
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

const put = async (app: TestApp, layers: object[]) => {
  const token = await app.login('admin');
  const { status, text } = await app.request('PUT', '/api/rotations/ops', { token, body: { layers } });
  assert.ok(status < 300, text);
};

const listAlerts = async ({ request }: TestApp) =>
  (await request<{ data: Record<string, string>[] }>('GET', '/api/alerts')).json.data;

const listConcerns = async (app: TestApp) => {
  const token = await app.login('admin');
  const { json } = await app.request<{ reasons: { text: string; severity: string }[] }>('GET', '/api/status', {
    token,
  });
  return json;
};

test('a gap within seven days raises an alert, which is resolved when somebody fills the gap', async (t) => {
  const dataDir = join(createFolder(t), 'data');
  const app = await startApp(t, { settings: { dataDir } });
  await put(app, [{ ...always, until: inDays(6) }]);
  await waitUntil('the gap is reported', async () => (await listAlerts(app)).length === 1);
  const [raised] = await listAlerts(app);
  assert.deepEqual([raised?.['source'], raised?.['level']], ['rotation/ops', 'WARNING']);
  assert.match(raised?.['message'] ?? '', /^Nobody is on call in ops from \d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d$/);
  assert.match(
    JSON.stringify(await listConcerns(app)),
    /In the next 7 days, there are times when nobody is on call in 1 rotation/,
  );
  await app.close();
  const next = await startApp(t, { settings: { dataDir } });
  assert.match(
    JSON.stringify(await listConcerns(next)),
    /In the next 7 days, there are times when nobody is on call in 1 rotation/,
  );
  await put(next, [always]);
  await waitUntil('the alert is resolved', async () => (await listAlerts(next)).length === 2);
  const [, resolved] = await listAlerts(next);
  assert.equal(resolved?.['message'], 'Somebody is on call in ops for the next 7 days');
  assert.doesNotMatch(JSON.stringify(await listConcerns(next)), /Nobody is on call/);
});

test('a gap that begins in more than seven days is not reported, and a current gap is an ERROR in the status', async (t) => {
  const app = await startApp(t);
  await put(app, [{ ...always, until: inDays(8) }]);
  assert.doesNotMatch(JSON.stringify(await listConcerns(app)), /Nobody is on call/);
  await put(app, [{ ...always, from: inDays(1) }]);
  await waitUntil('the gap is reported', async () => (await listAlerts(app)).length === 1);
  assert.match(JSON.stringify(await listConcerns(app)), /Nobody is on call now in 1 rotation/);
  const token = await app.login('admin');
  await app.request('DELETE', '/api/rotations/ops', { token });
  await waitUntil('the alert is resolved', async () => (await listAlerts(app)).length === 2);
  assert.equal((await listAlerts(app))[1]?.['message'], 'Rotation ops was deleted');
});
