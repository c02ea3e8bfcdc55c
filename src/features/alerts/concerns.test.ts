import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sendAlert } from '../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import type { Feature, FeatureInstance } from '../../kit/feature.ts';
import { features } from '../index.ts';
import { FiringAlerts, findAlertConcerns } from './firing.ts';
import { alerts } from './index.ts';

/** An app, and the texts of what its alerts report as concerns. */
const start = async (t: TestContext, settings = {}): Promise<{ app: TestApp; list(): string[] }> => {
  let instance: FeatureInstance | undefined;
  const watched: Feature = {
    ...alerts,
    create: async (parts) => {
      instance = await alerts.create(parts);
      return instance;
    },
  };
  // Where there are incidents, they say what needs attention.
  const others = features.filter(({ name }) => name !== 'incidents');
  const app = await startApp(t, { settings, features: others.map((each) => (each === alerts ? watched : each)) });
  return { app, list: () => (instance?.findConcerns?.() ?? []).map(({ text }) => text) };
};

test('alerts that fire and bad events are concerns until they are resolved, also after a restart', async (t) => {
  const { app, list } = await start(t);
  assert.deepEqual(list(), []);
  for (const key of ['a', 'b', 'c']) await sendAlert(app, { level: 'fatal', message: 'x', key });
  await sendAlert(app, { level: 'err', message: 'x', key: 'd' });
  await sendAlert(app, { level: 'ERROR', message: 'an event' });
  for (const level of ['WARN', 'INFO', '']) await sendAlert(app, { level, message: 'x' });
  await sendAlert(app, { level: 'WARN', message: 'x', key: 'e' });
  const bad = ['1 error alert is firing', '1 error alert in the last hour'];
  assert.deepEqual(list(), ['3 critical alerts are firing', ...bad]);
  for (const key of ['a', 'b', 'unknown']) await sendAlert(app, { message: 'x', key, status: 'resolved' });
  assert.deepEqual(list(), ['1 critical alert is firing', ...bad]);
  await app.close();
  const next = await start(t, { dataDir: join(app.folder, 'data') });
  await waitUntilPasses(async () => assert.deepEqual(next.list(), ['1 critical alert is firing', ...bad]));
  await sendAlert(next.app, { message: 'x', key: 'c', status: 'resolved' });
  assert.deepEqual(next.list(), bad);
});

test('an event of a sender that never resolves counts for an hour, an alert that fires for a day', () => {
  let now = new Date('2026-01-31T09:30:00Z');
  const firing = new FiringAlerts(() => now);
  const add = (more: object): void =>
    firing.fold({ id: 'x', seq: 1, time: now.toISOString(), level: 'CRITICAL', status: 'firing', ...more });
  add({ format: 'slack' });
  add({ format: 'cloudevents', fingerprint: 'f' });
  add({ format: 'alertmanager', fingerprint: 'f' });
  const textsAfter = (minutes: number): string[] => {
    now = new Date(now.getTime() + minutes * 60_000);
    return findAlertConcerns(firing).map(({ text }) => text);
  };
  assert.deepEqual(textsAfter(59), ['1 critical alert is firing', '2 critical alerts in the last hour']);
  assert.deepEqual(textsAfter(1), ['1 critical alert is firing']);
  assert.deepEqual(textsAfter(22 * 60 + 59), ['1 critical alert is firing']);
  assert.deepEqual(textsAfter(1), []);
});

test('a resolution ends an alert of a line that does not say who has sent it', () => {
  const firing = new FiringAlerts(() => new Date());
  const alert = { format: 'alertmanager', fingerprint: 'f', level: 'CRITICAL', time: new Date().toISOString() };
  firing.fold({ ...alert, id: 'a', seq: 1, status: 'firing' });
  const end = { ...alert, id: 'b', status: 'resolved', sender: 'key:am' };
  assert.equal(firing.findFiring(end)?.id, 'a');
  firing.fold({ ...end, seq: 2 });
  assert.equal(firing.findResolution({ id: 'a' })?.id, 'b');
  assert.deepEqual(findAlertConcerns(firing), []);
});

test('of very many alerts the last ones are known', () => {
  const firing = new FiringAlerts(() => new Date());
  const time = new Date().toISOString();
  for (let index = 0; index < 100_000; index += 1) {
    firing.fold({
      id: `${index}`,
      seq: index + 1,
      time,
      format: 'grafana',
      fingerprint: `${index}`,
      level: 'ERROR',
      status: 'firing',
    });
  }
  assert.equal(findAlertConcerns(firing)[0]?.text, '100000 error alerts are firing');
  const find = (fingerprint: string) => firing.findFiring({ format: 'grafana', fingerprint });
  assert.deepEqual([find('0'), find('99999')?.id], [undefined, '99999']);
});
