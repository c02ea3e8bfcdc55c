import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, startRefusal, type TestApp } from '../support/app.ts';
import { act, fire, messagesTo, startNotifier, toIncidentDestination, withClock } from '../support/notifications.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { listIncidents, readIncident } from './support/incidents.ts';

const inhibitRules = [
  { sourceMatchers: ['alertname="router"'], targetMatchers: ['alertname=~"web|db"'], equal: ['site'] },
];

const fireAt = (app: TestApp, name: string, site = 'north', more: object = {}): Promise<void> =>
  fire(app, `${name}-${site}`, { source: name, labels: { alertname: name, site }, ...more });

const resolve = (app: TestApp, name: string, site = 'north'): Promise<void> =>
  fireAt(app, name, site, { status: 'resolved' });

const waitForCause = (app: TestApp, source: string, name: string | undefined): Promise<void> =>
  waitUntilPasses(async () => {
    const { data } = await listIncidents(app, `?state=all&source=${source}`);
    assert.equal(data[0]?.cause?.name, name);
  });

const waitForMessages = (receiver: Parameters<typeof messagesTo>[0], expected: string[]): Promise<void> =>
  waitUntilPasses(() => assert.deepEqual(messagesTo(receiver).toSorted(), expected.toSorted()));

test('alerts of others wait for a cause with equal labels, whatever the clock does', async (t) => {
  let shift = 0;
  const receiver = await startReceiver(t);
  const features = withClock(() => new Date(Date.now() + shift));
  const app = await startNotifier(t, [toIncidentDestination(receiver)], { inhibitRules }, { features });
  await fireAt(app, 'router');
  await waitForMessages(receiver, ['opened #1 router-north is broken']);
  await fireAt(app, 'web');
  await fireAt(app, 'web', 'south');
  const first = ['opened #1 router-north is broken', 'opened #3 web-south is broken'];
  await waitForMessages(receiver, first);
  for (const jump of [3 * 3_600_000, -3 * 3_600_000, 600_000]) {
    shift += jump;
    await fireAt(app, 'other', `${jump}`);
    await waitUntil('a later incident is notified', () =>
      messagesTo(receiver).some((each) => each.includes(`other-${jump}`)),
    );
    assert.equal(
      messagesTo(receiver).some((each) => each.includes('web-north')),
      false,
    );
  }
  await resolve(app, 'router');
  await waitUntil('the end is notified', () => messagesTo(receiver).some((each) => each.startsWith('resolved #1')));
  const { notifications, timeline } = (
    await app.request<{
      notifications: { next: { waitsFor: string; dueAt: string } }[];
      timeline: { type: string; by: string }[];
    }>('GET', '/api/incidents/2')
  ).json;
  assert.equal(notifications[0]?.next.waitsFor, 'cause');
  assert.deepEqual(
    timeline.map(({ type }) => type),
    ['opened', 'inhibited'],
  );
  assert.equal(timeline[1]?.by, 'incident #1, router-north is broken');
  assert.equal(
    messagesTo(receiver).some((each) => each.includes('web-north')),
    false,
  );
  shift += 121_000;
  await waitUntil('the grace has passed', () => messagesTo(receiver).includes('opened #2 web-north is broken'));
});

test('a restart fires nothing that was inhibited, and an incident that ends with its cause notifies nobody', async (t) => {
  const receiver = await startReceiver(t);
  const settings = { inhibitRules, destinations: [toIncidentDestination(receiver)] };
  const app = await startApp(t, { settings });
  await fireAt(app, 'router');
  await waitForMessages(receiver, ['opened #1 router-north is broken']);
  await fireAt(app, 'web');
  await waitForCause(app, 'web', 'router-north is broken');
  await app.close();
  const dataDir = `${app.folder}/data`;
  const later = await startApp(t, { settings: { ...settings, dataDir } });
  await fireAt(later, 'other');
  await waitForMessages(receiver, ['opened #1 router-north is broken', 'opened #3 other-north is broken']);
  await waitForCause(later, 'web', 'router-north is broken');
  await resolve(later, 'router');
  await later.close();
  const last = await startApp(t, { settings: { ...settings, dataDir } });
  await waitForCause(last, 'web', 'router-north is broken');
  await resolve(last, 'web');
  await fireAt(last, 'later');
  await waitUntil('a later incident is notified', () =>
    messagesTo(receiver).some((each) => each.includes('later-north')),
  );
  assert.equal(
    messagesTo(receiver).some((each) => each.includes('web-north')),
    false,
  );
  assert.equal((await readIncident(last, 2)).cause?.number, 1);
});

test('an incident that people close while its cause is open notifies nobody', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [toIncidentDestination(receiver)], { inhibitRules });
  await fireAt(app, 'router');
  await fireAt(app, 'web');
  await waitForCause(app, 'web', 'router-north is broken');
  await act(app, 2, 'acknowledge', { comment: 'on it' });
  await act(app, 2, 'resolve');
  await act(app, 1, 'resolve');
  await waitForMessages(receiver, ['opened #1 router-north is broken', 'resolved #1 router-north is broken']);
});

test('two instances with one database agree on the cause, and neither notifies before it ends', {
  skip: toSkipPostgres(),
}, async (t) => {
  const store = await createDatabase(t);
  const receiver = await startReceiver(t);
  const start = (instanceName: string) =>
    startApp(t, {
      settings: {
        store,
        timeZone: 'UTC',
        instanceName,
        inhibitRules,
        dependsGraceSeconds: 2,
        destinations: [toIncidentDestination(receiver)],
      },
    });
  const [one, two] = await Promise.all([start('one'), start('two')]);
  await fireAt(one, 'router');
  await waitForMessages(receiver, ['opened #1 router-north is broken']);
  await fireAt(two, 'web');
  for (const each of [one, two]) await waitForCause(each, 'web', 'router-north is broken');
  // The other instance takes over the notifications.
  await one.close();
  await fireAt(two, 'other');
  await waitUntil('a later incident is notified', () =>
    messagesTo(receiver).some((each) => each.includes('other-north')),
  );
  assert.equal(
    messagesTo(receiver).some((each) => each.includes('web-north')),
    false,
  );
  await resolve(two, 'router');
  await waitUntil('the grace has passed', () => messagesTo(receiver).includes('opened #2 web-north is broken'));
});

test('an incident notifies once the level or labels of its open cause no longer match the rule', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startNotifier(t, [toIncidentDestination(receiver)], {
    inhibitRules: [
      { sourceMatchers: ['severity="critical"'], targetMatchers: ['severity="warning"'], equal: ['site'] },
    ],
    dependsGraceSeconds: 10,
  });
  const raise = (name: string, level: string, site: string) =>
    fire(app, name, { source: name, level, labels: { site } });
  await raise('router', 'CRITICAL', 'north');
  await raise('switch', 'CRITICAL', 'south');
  await waitForMessages(receiver, ['opened #1 router is broken', 'opened #2 switch is broken']);
  await raise('web', 'WARNING', 'north');
  await raise('db', 'WARNING', 'south');
  await waitForCause(app, 'web', 'router is broken');
  await waitForCause(app, 'db', 'switch is broken');
  await raise('router', 'WARNING', 'north');
  await waitUntil('web is notified', () => messagesTo(receiver).includes('opened #3 web is broken'));
  await raise('switch', 'CRITICAL', 'east');
  await waitUntil('db is notified', () => messagesTo(receiver).includes('opened #4 db is broken'));
});

test('an incident notifies within half a minute after a change of its open cause without an event', async (t) => {
  let shift = 0;
  const receiver = await startReceiver(t);
  const features = withClock(() => new Date(Date.now() + shift));
  const rules = [{ sourceMatchers: ['text=~".*down"'], targetMatchers: ['alertname="web"'] }];
  const app = await startNotifier(t, [toIncidentDestination(receiver)], { inhibitRules: rules }, { features });
  await fire(app, 'router', { message: 'router is down' });
  await waitForMessages(receiver, ['opened #1 router is down']);
  await fireAt(app, 'web');
  await waitForCause(app, 'web', 'router is down');
  await fire(app, 'router', { message: 'router is slow' });
  await waitForCause(app, 'web', undefined);
  shift = 30_000;
  await waitUntil('web is notified', () => messagesTo(receiver).includes('opened #2 web-north is broken'), 10_000);
});

test('unusable inhibit rules stop the start with one line', async (t) => {
  const refuse = (rule: object) => startRefusal(t, { settings: { inhibitRules: [rule] } });
  assert.equal(
    await refuse({ sourceMatchers: ['a="b"'] }),
    'inhibitRules[0]: set either targetMatchers or target_matchers',
  );
  assert.equal(
    await refuse({ sourceMatchers: ['a="b"'], source_matchers: ['a="b"'], target_matchers: ['c="d"'] }),
    'inhibitRules[0]: set either sourceMatchers or source_matchers',
  );
  assert.match(
    await refuse({ source_matchers: ['a'], target_matchers: ['c="d"'] }),
    /^inhibitRules\[0\]: a matcher must have a form such as /,
  );
  assert.match(
    await refuse({ source_matchers: ['a=~"("'], target_matchers: ['c="d"'] }),
    /^inhibitRules\[0\]: the regular expression \( cannot be used/,
  );
});
