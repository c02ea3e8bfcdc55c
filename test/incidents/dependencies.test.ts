import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startApp, startRefusal, type TestApp } from '../support/app.ts';
import { messagesTo, toIncidentDestination } from '../support/notifications.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { waitForState } from '../watches/support/watches.ts';
import { listEvents, listIncidents, readIncident } from './support/incidents.ts';

interface Site extends Pick<Receiver, 'url'> {
  fail(): void;
  recover(): void;
}

const startSite = async (t: TestContext): Promise<Site> => {
  const { url, behave } = await startReceiver(t);
  return { url, fail: () => behave(answer(500)), recover: () => behave(answer(200)) };
};

const toWatch = (name: string, { url }: Site, more: object = {}) => ({ name, type: 'http', url, every: 1, ...more });

/** Starts an app whose watches all notify one receiver of incidents. */
const startDesk = async (t: TestContext, watches: object[], settings: object = {}) => {
  const pager = await startReceiver(t);
  const app = await startApp(t, {
    settings: { watches, destinations: [toIncidentDestination(pager)], dependsGraceSeconds: 3, ...settings },
  });
  return { app, pager, token: await app.login('admin') };
};

const findIncident = async (app: TestApp, source: string) => {
  const { data } = await listIncidents(app, `?state=all&source=${encodeURIComponent(source)}`);
  assert.equal(data.length, 1);
  return data[0] as (typeof data)[number];
};

/** Waits until the pager has got exactly these notifications about incidents of watches, in any order. */
const waitForMessages = (pager: Receiver, expected: string[]): Promise<void> =>
  waitUntilPasses(() => {
    const messages = messagesTo(pager).map((text) => text.replace(/#\d+ (\w+):.*/, '$1'));
    assert.deepEqual(messages.toSorted(), expected.toSorted());
  }, 15_000);

test('while a router is down, one message is sent for all that depends on it, three levels deep', async (t) => {
  const [router, core, web, other] = await Promise.all([1, 2, 3, 4].map(() => startSite(t)));
  assert.ok(router && core && web && other);
  const { app, pager, token } = await startDesk(t, [
    toWatch('router', router),
    toWatch('core', core, { dependsOn: ['watch/router'] }),
    toWatch('web', web, { dependsOn: ['core'] }),
    toWatch('other', other),
  ]);
  for (const name of ['router', 'core', 'web', 'other']) await waitForState(app, token, name, 'ok');
  // The farthest dependents fail first.
  for (const site of [web, core, router]) site.fail();
  for (const name of ['router', 'core', 'web']) await waitForState(app, token, name, 'firing');
  await waitForMessages(pager, ['opened router']);
  const cause = await findIncident(app, 'watch/router');
  for (const source of ['watch/web', 'watch/core']) {
    await waitUntilPasses(async () => {
      const incident = await findIncident(app, source);
      assert.deepEqual(incident.cause, { id: cause.id, number: cause.number, name: 'router' });
      assert.deepEqual(await listEvents(app, incident.id), ['opened', 'inhibited']);
    });
  }
  assert.equal(cause.cause, null);
  other.fail();
  await waitForMessages(pager, ['opened router', 'opened other']);
  for (const site of [web, core, router, other]) site.recover();
  for (const name of ['router', 'core', 'web', 'other']) await waitForState(app, token, name, 'ok');
  await waitForMessages(pager, ['opened router', 'opened other', 'resolved router', 'resolved other']);
  assert.deepEqual((await findIncident(app, 'watch/web')).cause, {
    id: cause.id,
    number: cause.number,
    name: 'router',
  });
});

test('an incident that outlives its cause notifies after the grace period, and its resolution follows', async (t) => {
  const [router, web] = await Promise.all([startSite(t), startSite(t)]);
  const { app, pager, token } = await startDesk(t, [
    toWatch('router', router),
    toWatch('web', web, { dependsOn: ['router'] }),
  ]);
  for (const name of ['router', 'web']) await waitForState(app, token, name, 'ok');
  router.fail();
  await waitForMessages(pager, ['opened router']);
  web.fail();
  await waitForState(app, token, 'web', 'firing');
  router.recover();
  await waitForMessages(pager, ['opened router', 'resolved router']);
  await waitForMessages(pager, ['opened router', 'resolved router', 'opened web']);
  const { resolvedAt } = await findIncident(app, 'watch/router');
  const { id } = await findIncident(app, 'watch/web');
  await waitUntilPasses(async () => {
    const { timeline } = await readIncident(app, id);
    const notified = timeline.find(({ type }) => type === 'notified')?.at;
    assert.equal(Date.parse(notified ?? '') - Date.parse(resolvedAt ?? '') >= 3000, true);
  });
  assert.equal((await findIncident(app, 'watch/web')).cause, null);
  web.recover();
  await waitForMessages(pager, ['opened router', 'resolved router', 'opened web', 'resolved web']);
});

test('an incident waits for the next check of its possible cause, and no longer', async (t) => {
  const [router, web] = await Promise.all([startSite(t), startSite(t)]);
  const { app, pager, token } = await startDesk(
    t,
    [toWatch('router', router, { every: 10 }), toWatch('web', web, { dependsOn: ['router'] })],
    { dependsGraceSeconds: 120 },
  );
  for (const name of ['router', 'web']) await waitForState(app, token, name, 'ok');
  web.fail();
  await waitForState(app, token, 'web', 'firing');
  await waitUntilPasses(async () => {
    const { id } = await findIncident(app, 'watch/web');
    const { json } = await app.request<{ notifications: { next: { waitsFor: string } }[] }>(
      'GET',
      `/api/incidents/${id}`,
    );
    assert.equal(json.notifications[0]?.next.waitsFor, 'cause');
  });
  assert.deepEqual(messagesTo(pager), []);
  await waitForMessages(pager, ['opened web']);
});

test('a destination notified before the cause opened gets the resolution', async (t) => {
  const [router, web] = await Promise.all([startSite(t), startSite(t)]);
  const { app, pager, token } = await startDesk(t, [
    toWatch('router', router),
    toWatch('web', web, { dependsOn: ['router'] }),
  ]);
  for (const name of ['router', 'web']) await waitForState(app, token, name, 'ok');
  web.fail();
  await waitForMessages(pager, ['opened web']);
  router.fail();
  await waitForMessages(pager, ['opened web', 'opened router']);
  web.recover();
  await waitForMessages(pager, ['opened web', 'opened router', 'resolved web']);
});

test('a flapping cause holds back its dependents until the grace period after its last resolution', async (t) => {
  const [router, web] = await Promise.all([startSite(t), startSite(t)]);
  const { app, pager, token } = await startDesk(t, [
    toWatch('router', router),
    toWatch('web', web, { dependsOn: ['router'] }),
  ]);
  for (const name of ['router', 'web']) await waitForState(app, token, name, 'ok');
  router.fail();
  web.fail();
  for (const round of [1, 2, 3]) {
    router.fail();
    await waitForState(app, token, 'router', 'firing');
    router.recover();
    await waitForState(app, token, 'router', 'ok');
    await setTimeout(500 * round);
  }
  await waitUntil('web is notified', () => messagesTo(pager).some((text) => text.includes('web:')));
  const messages = messagesTo(pager).map((text) => text.replace(/#\d+ (\w+):.*/, '$1'));
  assert.equal(messages.filter((text) => text === 'opened web').length, 1);
  assert.equal(messages.indexOf('opened web'), messages.length - 1);
});

test('a heartbeat and a host depend on a watch, and a policy takes no step while the cause is open', async (t) => {
  const router = await startSite(t);
  const { app, pager, token } = await startDesk(t, [toWatch('router', router)], {
    heartbeats: [{ name: 'backup', period: 3600, dependsOn: ['router'] }],
    hosts: [{ name: 'web-1', dependsOn: ['heartbeat/backup'] }],
    escalationPolicies: [{ name: 'ops', steps: [{ notify: ['destination:pager'] }] }],
    escalationRouting: { rules: [{ source: 'heartbeat/*', policy: 'ops' }] },
  });
  await waitForState(app, token, 'router', 'ok');
  router.fail();
  await waitForMessages(pager, ['opened router']);
  const { status } = await app.request('POST', '/ping/backup/fail', { token });
  assert.equal(status, 200);
  const held = await waitForHeld(app, 'heartbeat/backup');
  const { json } = await app.request<{ escalation: { next: { dueAt: string | null } } }>(
    'GET',
    `/api/incidents/${held.id}`,
  );
  assert.equal(json.escalation.next.dueAt, null);
  router.recover();
  await waitUntil('the step is taken', () => messagesTo(pager).some((text) => text.includes('Heartbeat backup')));
  assert.deepEqual((await app.request<{ dependsOn: string[] }>('GET', '/api/heartbeats/backup')).json.dependsOn, [
    'router',
  ]);
  assert.deepEqual((await app.request<{ dependsOn: string[] }>('GET', '/api/hosts/web-1', { token })).json.dependsOn, [
    'heartbeat/backup',
  ]);
});

const waitForHeld = async (app: TestApp, source: string) => {
  await waitUntil(`${source} is held`, async () => {
    const { data } = await listIncidents(app, `?source=${encodeURIComponent(source)}`);
    return data[0]?.cause?.name === 'router';
  });
  return findIncident(app, source);
};

const failHeartbeat = async (app: TestApp, name: string, token: string): Promise<void> =>
  assert.equal((await app.request('POST', `/ping/${name}/fail`, { token })).status, 200);

test('incidents of 300 things, each with 20 dependencies, are listed within seconds', async (t) => {
  const names = Array.from({ length: 300 }, (_, index) => `job-${index}`);
  const heartbeats = names.map((name, index) => ({
    name,
    period: 3600,
    dependsOn: names.slice(Math.max(0, index - 20), index),
  }));
  const { app, token } = await startDesk(t, [], { heartbeats });
  for (const name of names) await failHeartbeat(app, name, token);
  await waitUntil('the last has its cause', async () => {
    const { data } = await listIncidents(app, '?source=heartbeat/job-299');
    return data[0]?.cause?.name !== undefined;
  });
  const begun = performance.now();
  const { data } = await listIncidents(app, '?limit=100');
  assert.equal(data.length, 100);
  assert.ok(performance.now() - begun < 5000, `${performance.now() - begun} ms`);
});

test('an incident notifies once its thing no longer depends on its open cause', async (t) => {
  const { app, pager, token } = await startDesk(t, []);
  const put = (name: string, dependsOn: string[]) =>
    app.request('PUT', `/api/heartbeats/${name}`, { token, body: { period: 3600, dependsOn } });
  await put('router', []);
  await put('backup', ['router']);
  await failHeartbeat(app, 'router', token);
  await failHeartbeat(app, 'backup', token);
  await waitUntilPasses(async () =>
    assert.equal((await findIncident(app, 'heartbeat/backup')).cause?.name, 'heartbeat router'),
  );
  await put('backup', []);
  await waitUntil('backup is notified', () => messagesTo(pager).some((text) => text.includes('Heartbeat backup')));
  assert.equal((await findIncident(app, 'heartbeat/backup')).cause, null);
});

test('unknown names, circles and the deletion of what others depend on are refused', async (t) => {
  const site = await startSite(t);
  const { app, token } = await startDesk(t, [toWatch('router', site)]);
  const put = (path: string, body: object) => app.request('PUT', path, { token, body });
  const refusal = async (path: string, body: object) => {
    const { status, json } = await put(path, body);
    assert.equal(status, 400);
    return json['error'];
  };
  const backup = { period: 60, dependsOn: ['router'] };
  assert.equal((await put('/api/heartbeats/backup', backup)).status, 201);
  assert.equal(
    (await app.request('POST', '/api/watches', { token, body: toWatch('web', site, { dependsOn: ['backup'] }) }))
      .status,
    201,
  );
  assert.equal(
    await refusal('/api/watches/web', toWatch('web', site, { dependsOn: ['gone'] })),
    'dependsOn: watch, heartbeat or host gone does not exist',
  );
  assert.equal(
    await refusal('/api/watches/web', toWatch('web', site, { dependsOn: ['host/gone'] })),
    'dependsOn: host gone does not exist',
  );
  assert.equal(
    await refusal('/api/watches/web', toWatch('web', site, { dependsOn: ['web'] })),
    'dependsOn must not lead back to itself: web → web',
  );
  assert.equal(
    await refusal('/api/heartbeats/backup', { period: 60, dependsOn: ['web'] }),
    'dependsOn must not lead back to itself: heartbeat backup → web → heartbeat backup',
  );
  assert.equal(
    (await app.request('POST', '/api/hosts', { token, body: { name: 'h1', dependsOn: ['nothing'] } })).status,
    400,
  );
  assert.equal(
    (await app.request('POST', '/api/hosts', { token, body: { name: 'h1', dependsOn: ['web'] } })).status,
    201,
  );
  for (const body of [
    { dependsOn: ['../x'] },
    { dependsOn: 'router' },
    { dependsOn: ['router', 'router'] },
    { dependsOn: [7] },
  ])
    assert.equal((await put('/api/heartbeats/backup', { period: 60, ...body })).status, 400);
  const { status, json } = await app.request('DELETE', '/api/heartbeats/backup', { token });
  assert.equal(status, 409);
  assert.equal(json['error'], 'web depends on heartbeat backup: change dependsOn there first');
  assert.equal((await app.request('PATCH', '/api/hosts/h1', { token, body: { dependsOn: [] } })).status, 200);
  assert.equal((await app.request('DELETE', '/api/watches/web', { token })).status, 200);
  assert.equal((await app.request('DELETE', '/api/heartbeats/backup', { token })).status, 200);
});

test('a config file with an unknown name or a circle stops the start', async (t) => {
  const at = { type: 'tcp', host: '127.0.0.1', port: 1 };
  const refuse = (settings: object) => startRefusal(t, { settings });
  assert.equal(
    await refuse({ watches: [{ name: 'web', ...at, dependsOn: ['router'] }] }),
    'watches: web: dependsOn: watch, heartbeat or host router does not exist',
  );
  assert.equal(
    await refuse({
      watches: [{ name: 'web', ...at, dependsOn: ['backup'] }],
      heartbeats: [{ name: 'backup', period: 60, dependsOn: ['host/h1'] }],
      hosts: [{ name: 'h1', dependsOn: ['web'] }],
    }),
    'heartbeats: backup: dependsOn must not lead back to itself: heartbeat backup → host h1 → web → heartbeat backup',
  );
  // A host may enrol later.
  await startApp(t, { settings: { watches: [{ name: 'web', ...at, dependsOn: ['host/later'] }] } });
});
