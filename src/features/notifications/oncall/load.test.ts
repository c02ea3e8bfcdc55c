import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestApp } from '../../../../test/support/app.ts';
import { act, fire, readIncident, startNotifier, withClock } from '../../../../test/support/notifications.ts';
import { adminToken } from '../../../../test/support/outbox.ts';
import { createPerson, putPolicy } from '../../../../test/support/people.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/units.ts';

interface Load {
  person: string;
  weeks: { week: string; pages: number; nights: number; notActedOn: { number: number }[] }[];
}

/** Monday, 2026-03-02, at midnight in UTC. */
const monday = Date.UTC(2026, 2, 2);

/** Starts an app with a clock that the test moves, the person anna in a rotation, and a policy that pages her. */
const start = async (t: TestContext, settings: object = {}) => {
  const receiver = await startReceiver(t);
  const time = { now: monday };
  const app = await startNotifier(t, [], settings, { features: withClock(() => new Date(time.now)) });
  const token = await createPerson(app, 'anna', receiver);
  await app.request('PUT', '/api/people/me', { token, body: { timeZone: 'UTC' } });
  await putPolicy(app, { steps: [{ notify: ['person:anna'] }] });
  return { app, receiver, token, time };
};

/** Opens an incident, and waits until the pages of all ways are stored. */
const page = async (app: TestApp, key: string): Promise<void> => {
  await fire(app, key);
  await waitUntil('anna is paged', async () => {
    const { json } = await app.request<{ data: { number: number; title: string }[] }>('GET', '/api/incidents');
    const { number } = json.data.find(({ title }) => title === `${key} is broken`) ?? {};
    if (number === undefined) return false;
    const { notifications } = await readIncident(app, number);
    return notifications.length > 0 && notifications.every(({ last }) => last?.what === 'opened');
  });
};

const readLoad = async (app: TestApp, token: string, person = 'me') =>
  (await app.request<Load>('GET', `/api/people/${person}/load`, { token })).json;

test('the on-call load counts pages, disturbed nights and incidents without an action by week', async (t) => {
  const { app, receiver, token, time } = await start(t);
  // Two ways that are used at the same time count as one page.
  const phone = { type: 'webhook', url: `${receiver.url}/second`, groupSeconds: 0 };
  await app.request('PUT', '/api/people/me/ways/second', { token, body: phone });
  const at = async (ms: number, key: string): Promise<void> => {
    time.now = ms;
    await page(app, key);
  };
  await at(monday + 12 * hourMs, 'day');
  await at(monday + 23 * hourMs, 'evening');
  await at(monday + 26 * hourMs, 'night');
  await act(app, 3, 'acknowledge');
  // Monday at 06:59 belongs to Sunday night, and therefore to the week before.
  await at(monday + 7 * dayMs + 7 * hourMs - minuteMs, 'sunday');
  await at(monday + 7 * dayMs + 7 * hourMs, 'next week');
  const weeks = async () =>
    (await readLoad(app, token)).weeks.slice(0, 2).map(({ week, pages, nights, notActedOn }) => {
      return [week, pages, nights, notActedOn.map(({ number }) => number).join()];
    });
  assert.deepEqual(await weeks(), [
    ['2026-03-09', 1, 0, '5'],
    ['2026-03-02', 4, 2, '1,2,4'],
  ]);
  assert.equal((await readLoad(app, token)).weeks.length, 12);
});

test('people see their own on-call load, and an Admin sees the load of everybody', async (t) => {
  const { app, token } = await start(t);
  const admin = await adminToken(app);
  assert.equal((await readLoad(app, admin, 'anna')).person, 'anna');
  assert.equal((await readLoad(app, token)).person, 'anna');
  assert.equal((await app.request('GET', '/api/people/admin/load', { token })).status, 403);
  assert.equal((await app.request('GET', '/api/people/nobody/load', { token: admin })).status, 404);
  assert.equal((await app.request('GET', '/api/people/me/load')).status, 401);
});

const rotation = { layers: [{ people: ['anna'], handover: { every: '1 week', at: 'Mon 12:00' } }] };

test('on Monday people of rotations get a report about the last week, once, unless the setting is off', async (t) => {
  for (const weeklyReport of [true, false]) {
    const { app, receiver, time } = await start(t, { timeZone: 'UTC', weeklyReport });
    const admin = await adminToken(app);
    await app.request('PUT', '/api/rotations/desk', { token: admin, body: rotation });
    time.now = monday + 26 * hourMs;
    await page(app, 'disk');
    const reports = () => receiver.requests.filter(({ body }) => body.includes('Pages from'));
    time.now = monday + 7 * dayMs + 10 * hourMs;
    await app.close();
    const next = await startNotifier(
      t,
      [],
      { timeZone: 'UTC', weeklyReport, dataDir: `${app.folder}/data` },
      { features: withClock(() => new Date(time.now)) },
    );
    if (weeklyReport) await waitUntil('the report arrives', () => reports().length === 1);
    await page(next, 'later');
    assert.equal(reports().length, weeklyReport ? 1 : 0);
    if (!weeklyReport) continue;
    assert.match(
      String(JSON.parse(reports()[0]?.body ?? '').message),
      /^Pages from 2026-03-02 to 2026-03-08:\nanna: 1 page, woken on 1 night\nIncidents that nobody acted on:\n#1 ERROR disk is broken$/,
    );
  }
});
