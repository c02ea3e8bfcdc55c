import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, startRefusal, type TestApp } from '../../../../test/support/app.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { act, fire, messagesTo, toIncidentDestination, withClock } from '../../../../test/support/notifications.ts';
import { adminToken, waitForRequests } from '../../../../test/support/outbox.ts';
import { createUser } from '../../../../test/support/people.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { policyKind } from './policy-kind.ts';

const room = { name: 'room', type: 'webhook', url: 'http://127.0.0.1:9/', notify: 'incidents' };
const pager = { ...room, name: 'pager', after: 15, repeat: 60, hours: 'Mon-Fri 08:00-18:00 UTC' };
const late = { ...room, name: 'late', after: 30 };
const rotation = { name: 'desk', members: ['pager'], handover: '0 9 * * 1' };
const destinations = [room, pager, late];
const step = { notify: ['destination:room'], wait: '5 minutes' };
const ops = { name: 'ops', steps: [step] };

test('the start is refused for policies and routings that name something unknown or lead back to themselves', async (t) => {
  const refusal = (settings: object) =>
    startRefusal(t, { settings: { destinations, rotations: [rotation], ...settings } });
  const ofPolicy = (policy: object, ...more: object[]) =>
    refusal({ escalationPolicies: [{ ...ops, ...policy }, ...more] });
  assert.match(
    await ofPolicy({ steps: [{ notify: ['rotation:none'] }] }),
    /escalation policy "ops": rotation:none does not exist: create the user or rotation first/,
  );
  assert.match(
    await ofPolicy({ steps: [{ notify: ['destination:none'] }] }),
    /destination:none does not exist or does not get incidents: create the destination, or set its notify to incidents/,
  );
  assert.match(await ofPolicy({ steps: [{ notify: ['team:ops'] }] }), /notify/);
  assert.match(
    await ofPolicy({ steps: [{ ...step, wait: '5 days' }] }),
    /wait must be a duration such as "90 seconds"/,
  );
  assert.match(await ofPolicy({ steps: [{ ...step, wait: '0 minutes' }] }), /wait must be a duration/);
  assert.match(await ofPolicy({ then: 'none' }), /then names a policy that does not exist: "none"/);
  assert.match(await ofPolicy({ then: 'ops' }), /then leads back to ops: ops → ops/);
  assert.match(
    await ofPolicy({ then: 'b' }, { ...ops, name: 'b', then: 'ops' }),
    /escalation policy "ops": then leads back to ops: ops → b → ops/,
  );
  assert.match(await ofPolicy({}, { ...ops, name: 'OPS' }), /escalation policy "OPS": the name is already in use/);
  assert.match(await ofPolicy({ name: 'stop' }), /the name is already in use/);
  assert.match(
    await refusal({ escalationRouting: { rules: [], default: 'none' } }),
    /escalation routing: policy "none" does not exist/,
  );
  const rule = { policy: null };
  assert.match(
    await refusal({ escalationRouting: { rules: [rule, { ...rule, level: 'LOUD' }] } }),
    /escalation routing: rules\[1\]: level must be one of CRITICAL/,
  );
  assert.match(
    await refusal({ escalationRouting: { rules: [{ ...rule, hours: 'at night' }] } }),
    /rules\[0\]: .*Mon-Fri/,
  );
});

const put = async (app: TestApp, path: string, body: object, headers = {}) =>
  app.request('PUT', path, { token: await adminToken(app), body, headers });

test('policies and the routing of the config file are shown, and cannot be changed by route', async (t) => {
  const settings = { destinations, escalationPolicies: [ops], escalationRouting: { rules: [], default: 'ops' } };
  const app = await startApp(t, { settings });
  const { json } = await app.request('GET', '/api/escalation-policies/ops');
  assert.deepEqual([json['origin'], json['steps'], json['then']], ['config', [step], 'stop']);
  const routing = await app.request('GET', '/api/escalation-routing');
  assert.deepEqual([routing.json['origin'], routing.json['default']], ['config', 'ops']);
  for (const [path, body] of [
    ['/api/escalation-policies/ops', { steps: [step] }],
    ['/api/escalation-routing', { rules: [] }],
  ] as const) {
    const refused = await put(app, path, body);
    assert.equal(refused.status, 409);
    assert.match(String(refused.json['error']), /config file: edit it there/);
  }
});

test('unusable policies and routings are refused with a reason, and change nothing', async (t) => {
  const app = await startApp(t, { settings: { destinations } });
  await createUser(app, 'anna');
  const path = '/api/escalation-policies/ops';
  for (const [body, reason] of [
    [{ steps: [] }, /steps/],
    [{ steps: [{ notify: [] }] }, /^steps\.0\.notify must not be empty$/],
    [{ steps: [{ notify: ['person:nobody'] }] }, /person:nobody does not exist: create the user or rotation first/],
    [{ steps: [{ notify: ['rotation:none'] }] }, /rotation:none does not exist/],
    [{ steps: [step], then: 'ops' }, /leads back to ops/],
    [{ steps: [step], repeat: 101 }, /repeat/],
    [{ steps: [step], every: 1 }, /every is unknown/],
    [{ steps: [{ ...step, wait: '5' }] }, /wait must be a duration/],
  ] as const) {
    const { status, json } = await put(app, path, body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(String(json['error']), reason);
  }
  assert.equal((await put(app, '/api/escalation-policies/stop', { steps: [step] })).status, 409);
  assert.equal((await app.request('GET', path)).status, 404);
  assert.equal((await put(app, path, { steps: [{ notify: ['person:anna'] }] })).status, 201);
  for (const body of [{ rules: [], default: 'none' }, { rules: [{ policy: 'none' }] }, { rules: [{ source: 'x' }] }]) {
    assert.equal((await put(app, '/api/escalation-routing', body)).status, 400, JSON.stringify(body));
  }
  const reader = await app.login('reader');
  const refused = await app.request('PUT', path, { token: reader, body: { steps: [step] } });
  assert.equal(refused.status, 403);
});

test('a policy in use cannot be deleted, and the routing has a version', async (t) => {
  const app = await startApp(t, { settings: { destinations } });
  const token = await adminToken(app);
  const remove = (name: string) => app.request('DELETE', `/api/escalation-policies/${name}`, { token });
  assert.equal((await put(app, '/api/escalation-policies/b', { steps: [step] })).status, 201);
  assert.equal((await put(app, '/api/escalation-policies/a', { steps: [step], then: 'b' })).status, 201);
  const first = await app.request('GET', '/api/escalation-routing');
  assert.deepEqual([first.json['origin'], first.json['version']], ['default', null]);
  const routed = await put(app, '/api/escalation-routing', { rules: [{ source: 'x', policy: 'a' }] });
  assert.equal(routed.headers['etag'], `"${routed.json['version']}"`);
  assert.deepEqual(
    [(await remove('b')).json['error'], (await remove('a')).json['error']],
    [
      'Policy b follows policy a: change "then" of policy a first',
      'Policy a is used by the routing: remove the policy there first',
    ],
  );
  const stale = { 'if-match': `"${Number(routed.json['version']) - 1}"` };
  assert.equal((await put(app, '/api/escalation-routing', { rules: [] }, stale)).status, 412);
  const current = { 'if-match': `"${routed.json['version']}"` };
  assert.equal((await put(app, '/api/escalation-routing', { rules: [] }, current)).status, 200);
  assert.deepEqual([(await remove('a')).status, (await remove('b')).status], [200, 200]);
});

test('after, repeat, hours and rotations of destinations are listed as a policy', async (t) => {
  const app = await startApp(t, { settings: { destinations, rotations: [rotation] } });
  const { json } = await app.request<{ data: Record<string, unknown>[] }>('GET', '/api/escalation-policies');
  assert.deepEqual(
    json.data.map(({ name, origin, steps, notes }) => ({ name, origin, steps, notes })),
    [
      {
        name: 'destinations',
        origin: 'destinations',
        steps: [
          { notify: ['destination:room'], wait: '15 minutes' },
          { notify: ['rotation:desk'], wait: '15 minutes' },
          { notify: ['destination:late'], wait: '0 seconds' },
        ],
        notes: ['pager: a reminder every 1 hour; only Mon-Fri 08:00-18:00 UTC'],
      },
    ],
  );
});

test('a stored policy that this version cannot read is ignored', () => {
  for (const value of [null, {}, { steps: [{}] }, { steps: [{ notify: [1] }] }]) {
    const setting = { name: 'ops', value: value as never, version: 1, by: '', at: 0, createdAt: 0 };
    assert.throws(() => policyKind.compile(setting), /cannot read the stored policy/);
  }
});

test('a routing that is new in the config file pages nobody of old incidents, also after a restart', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = join(createFolder(t), 'data');
  const room = toIncidentDestination(receiver, { name: 'room' });
  const start = (more: object) => startApp(t, { settings: { dataDir, destinations: [room], ...more } });
  const policies = { escalationPolicies: [{ name: 'ops', steps: [step] }] };
  const routed = { ...policies, escalationRouting: { rules: [], default: 'ops' } };
  const before = await start(policies);
  await fire(before, 'old');
  await waitForRequests(receiver, 1);
  await before.close();
  const policyOf = async (app: TestApp, number: number) =>
    (await app.request<{ escalation: { policy: string } | null }>('GET', `/api/incidents/${number}`)).json.escalation
      ?.policy;
  for (let starts = 0; starts < 2; starts += 1) {
    const app = await start(routed);
    assert.equal(await policyOf(app, 1), undefined);
    // Once the new incident has notified, any step due for the old incident would have notified, too.
    await fire(app, `new-${starts}`);
    await waitForRequests(receiver, 2 + starts);
    assert.equal(await policyOf(app, 2 + starts), 'ops');
    await app.close();
  }
  const without = await start(policies);
  await fire(without, 'between');
  await waitForRequests(receiver, 4);
  await without.close();
  const again = await start(routed);
  assert.deepEqual([await policyOf(again, 4), await policyOf(again, 2)], [undefined, 'ops']);
  await fire(again, 'last');
  await waitForRequests(receiver, 5);
  assert.deepEqual(
    messagesTo(receiver),
    ['old', 'new-0', 'new-1', 'between', 'last'].map((key, index) => `opened #${index + 1} ${key} is broken`),
  );
  // A reopened incident follows the current routing.
  await act(again, 1, 'resolve');
  await fire(again, 'old');
  await waitUntil('the incident has the policy', async () => (await policyOf(again, 1)) === 'ops');
});

test('a routing that was first read while the clock was ahead applies once the clock is right', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = join(createFolder(t), 'data');
  const room = toIncidentDestination(receiver, { name: 'room' });
  const settings = {
    dataDir,
    destinations: [room],
    escalationPolicies: [{ name: 'ops', steps: [step] }],
    escalationRouting: { rules: [], default: 'ops' },
  };
  const ahead = await startApp(t, { settings, features: withClock(() => new Date(Date.now() + 3_600_000)) });
  await ahead.close();
  const app = await startApp(t, { settings });
  await fire(app, 'disk');
  await waitUntil('the incident has the policy', async () => {
    const { json } = await app.request<{ escalation: { policy: string } | null }>('GET', '/api/incidents/1');
    return json.escalation?.policy === 'ops';
  });
});
