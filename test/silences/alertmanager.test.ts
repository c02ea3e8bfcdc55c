import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AlertmanagerAlert,
  AlertmanagerSilence,
  AlertmanagerStatus,
} from '../../src/features/alertmanager/schema.ts';
import type { Silence } from '../../src/features/silences/schema.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { createSilence, inHours } from './support/silences.ts';

const ask = async <T>(app: TestApp, path: string): Promise<T> => {
  const { status, json } = await app.request<T & object>('GET', `/api/v2/${path}`);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
};

/** Starts a server and sends two alerts that each open an incident. */
const startWithIncidents = async (t: Parameters<typeof startApp>[0]) => {
  const app = await startApp(t);
  await sendAlert(app, { source: 'backup', level: 'CRITICAL', message: 'disk is full', hostname: 'db-1' });
  const labels = { alertname: 'Slow', severity: 'page', team: 'web' };
  const one = { source: 'api', level: 'ERROR', message: 'slow', labels, link: 'https://desk.example/' };
  await app.request('POST', '/api/alert', { body: one });
  await waitUntilPasses(async () => assert.equal((await ask<object[]>(app, 'alerts')).length, 2));
  return app;
};

test('incidents are listed as alerts with labels, selected by filters and flags', async (t) => {
  const app = await startWithIncidents(t);
  const token = await app.login('reader');
  const silence = await createSilence(app, token, { match: { source: 'api' } });
  await app.request('POST', '/api/incidents/1/acknowledge', { token });
  const alerts = await ask<AlertmanagerAlert[]>(app, 'alerts');
  const found = Object.fromEntries(alerts.map((alert) => [alert.labels['alertname'], alert]));
  assert.deepEqual(found['backup']?.labels, { alertname: 'backup', severity: 'critical', instance: 'db-1' });
  assert.deepEqual(found['backup']?.annotations, { summary: 'disk is full', incident: '1', acknowledgedBy: 'reader' });
  assert.deepEqual(found['backup']?.status, { state: 'active', silencedBy: [], inhibitedBy: [] });
  assert.deepEqual(found['Slow']?.labels, { alertname: 'Slow', severity: 'page', team: 'web' });
  assert.deepEqual(found['Slow']?.status, { state: 'suppressed', silencedBy: [silence.id], inhibitedBy: [] });
  assert.equal(found['Slow']?.generatorURL, 'https://desk.example/');
  assert.match(found['Slow']?.fingerprint ?? '', /^[0-9a-f]{16}$/);
  const choose = async (query: string) =>
    (await ask<AlertmanagerAlert[]>(app, `alerts?${query}`)).map(({ labels }) => labels['alertname']).sort();
  assert.deepEqual(await choose('silenced=false'), ['backup']);
  assert.deepEqual(await choose('active=false&inhibited=true'), ['Slow']);
  const filter = (...texts: string[]) => choose(texts.map((text) => `filter=${encodeURIComponent(text)}`).join('&'));
  assert.deepEqual(await filter('alertname=~"S.*"'), ['Slow']);
  assert.deepEqual(await filter('alertname=~"Slo"'), []);
  assert.deepEqual(await filter('team!=web'), ['backup']);
  assert.deepEqual(await filter('team=""'), ['backup']);
  assert.deepEqual(await filter('severity!~"page|x"', 'instance=db-1'), ['backup']);
  assert.deepEqual(await filter('team=~".*"'), ['Slow', 'backup']);
  assert.deepEqual(await filter('team=~"(web|)"'), ['Slow', 'backup']);
  assert.deepEqual(await filter('team=~".+"'), ['Slow']);
  assert.deepEqual(await filter('team!=""'), ['Slow']);
  assert.deepEqual(await filter('source = backup'), ['backup']);
  assert.deepEqual(await filter('"team"="web"', '"a \\"b"!="c"'), ['Slow']);
  assert.deepEqual(await choose('receiver=signal.*'), ['Slow', 'backup']);
  assert.deepEqual(await choose('receiver=other'), []);
  const groups = await ask<{ labels: { alertname: string }; receiver: object; alerts: AlertmanagerAlert[] }[]>(
    app,
    'alerts/groups',
  );
  assert.deepEqual(groups.map(({ labels, alerts: members }) => [labels.alertname, members.length]).sort(), [
    ['Slow', 1],
    ['backup', 1],
  ]);
  assert.deepEqual(groups[0]?.receiver, { name: 'signalbox' });
  for (const wrong of ['filter=x', 'filter=%3Da', 'filter=a%3D~(', 'filter=a%3D%22x', 'active=maybe', 'receiver=(']) {
    assert.equal((await app.request('GET', `/api/v2/alerts?${wrong}`)).status, 400, wrong);
  }
  await app.request('POST', '/api/incidents/1/resolve', { token });
  assert.deepEqual(await choose(''), ['Slow']);
});

test('silences are the same in both APIs', async (t) => {
  const app = await startWithIncidents(t);
  const token = await app.login('reader');
  const post = (body: object) =>
    app.request<{ silenceID: string }>('POST', '/api/v2/silences', { token, body: { ...usual, ...body } });
  const usual = {
    matchers: [{ name: 'alertname', value: 'Sl.*', isRegex: true }],
    startsAt: '0001-01-01T00:00:00.000Z',
    endsAt: inHours(1),
    createdBy: 'anna',
    comment: 'c',
  };
  const created = await post({});
  assert.equal(created.status, 200);
  const id = created.json.silenceID;
  await waitForIncident(app, { silencedBy: [id] }, '?source=api');
  const native = await app.request<Silence>('GET', `/api/silences/${id}`);
  assert.deepEqual(
    [native.json.state, native.json.match, native.json.matchers, native.json.createdBy],
    ['active', null, [{ name: 'alertname', value: 'Sl.*', isRegex: true, isEqual: true }], 'reader'],
  );
  const one = await ask<AlertmanagerSilence>(app, `silence/${id}`);
  assert.deepEqual([one.createdBy, one.comment, one.status], ['anna', 'c', { state: 'active' }]);
  const extended = await post({ ...one, endsAt: inHours(3), createdBy: 'ben' });
  assert.equal(extended.json.silenceID, id);
  const other = await post({ ...one, matchers: [{ name: 'team', value: 'web', isRegex: false, isEqual: true }] });
  assert.notEqual(other.json.silenceID, id);
  const states = async (query = '') =>
    Object.fromEntries(
      (await ask<AlertmanagerSilence[]>(app, `silences${query}`)).map((silence) => [silence.id, silence.status.state]),
    );
  assert.deepEqual(await states(), { [id]: 'expired', [other.json.silenceID]: 'active' });
  assert.deepEqual(await states('?filter=team%3Dweb'), { [other.json.silenceID]: 'active' });
  const recurring = await createSilence(app, token, {
    match: { source: 'x*' },
    schedule: '0 2 * * 6',
    minutes: 30,
    endsAt: undefined,
  });
  const shown = await ask<AlertmanagerSilence>(app, `silence/${recurring.id}`);
  assert.deepEqual(shown.matchers, [{ name: 'source', value: '(?is)x.*', isRegex: true, isEqual: true }]);
  assert.deepEqual([shown.startsAt, shown.endsAt], [recurring.window?.startsAt, recurring.window?.endsAt]);
  assert.equal((await post({ ...shown, comment: 'changed' })).json.silenceID, recurring.id);
  assert.equal((await post({ ...shown, endsAt: inHours(1000) })).status, 400);
  const after = await app.request<Silence>('GET', `/api/silences/${recurring.id}`);
  assert.deepEqual([after.json.match, after.json.comment, after.json.endsAt], [{ source: 'x*' }, 'changed', null]);
  const end = (name: string) => app.request('DELETE', `/api/v2/silence/${name}`, { token });
  assert.deepEqual([(await end(recurring.id)).status, (await end(recurring.id)).status], [200, 200]);
  assert.equal((await end('none')).status, 404);
  assert.equal((await app.request('GET', '/api/v2/silence/none')).status, 404);
  const absent = await post({ id: 'none' });
  assert.deepEqual([absent.status, absent.json], [404, 'Silence none not found']);
});

test("Grafana's data source finds an Alertmanager, its alerts and its silences", async (t) => {
  const app = await startWithIncidents(t);
  const token = await app.login('reader');
  // If these paths responded, Grafana would take the server for Mimir or request more of its features.
  for (const path of ['/alertmanager/api/v2/status', '/api/v1/status/buildinfo'])
    assert.equal((await app.request('GET', path)).status, 404, path);
  const status = await ask<AlertmanagerStatus>(app, 'status');
  assert.match(status.config.original, /^route:\n {2}receiver: signalbox\nreceivers:\n- name: signalbox\n$/);
  const flags = 'silenced=true&active=true&inhibited=false&unprocessed=true';
  const matcher = encodeURIComponent('alertname=~"Slow|x"');
  const alerts = await ask<AlertmanagerAlert[]>(app, `alerts?${flags}&filter=${matcher}`);
  assert.deepEqual(
    alerts.map(({ labels }) => labels['alertname']),
    ['Slow'],
  );
  const groups = await ask<{ alerts: AlertmanagerAlert[] }[]>(
    app,
    `alerts/groups?filter=${matcher}&receiver=signalbox&${flags}`,
  );
  assert.deepEqual(
    groups.map((group) => group.alerts.map(({ fingerprint }) => fingerprint)),
    [alerts.map(({ fingerprint }) => fingerprint)],
  );
  const body = {
    matchers: [{ name: 'alertname', value: 'Slow', isEqual: true, isRegex: false }],
    startsAt: inHours(0),
    endsAt: inHours(2),
    comment: 'created',
    createdBy: 'anna',
  };
  const { json } = await app.request<{ silenceID: string }>('POST', '/api/v2/silences', { token, body });
  const rules = 'ruleMetadata=true&accesscontrol=true';
  const silence = await ask<AlertmanagerSilence>(app, `silence/${json.silenceID}?${rules}`);
  assert.deepEqual(await ask(app, `silences?${rules}`), [silence]);
  const changed = { ...silence, endsAt: inHours(3) };
  assert.equal((await app.request('POST', '/api/v2/silences', { token, body: changed })).status, 200);
  assert.equal((await app.request('DELETE', `/api/v2/silence/${json.silenceID}`, { token })).status, 200);
});

test('Karma gets the version, the status, all groups and all silences', async (t) => {
  const app = await startWithIncidents(t);
  const token = await app.login('reader');
  const silence = await createSilence(app, token, { match: { source: 'api' } });
  // Without a version of Alertmanager in the metrics, Karma assumes a recent version.
  const { status, text } = await app.request('GET', '/metrics');
  assert.deepEqual([status, text.includes('alertmanager_build_info')], [200, false]);
  const { cluster, versionInfo, uptime } = await ask<AlertmanagerStatus>(app, 'status');
  assert.deepEqual(cluster, { status: 'disabled', name: '', peers: [] });
  assert.match(versionInfo.version, /^\d+\.\d+\.\d+/);
  assert.ok(Date.parse(uptime) <= Date.now());
  const groups = await ask<{ labels: object; receiver: object; alerts: AlertmanagerAlert[] }[]>(app, 'alerts/groups');
  const shown = groups.flatMap(({ receiver, alerts }) =>
    alerts.map((alert) => [receiver, alert.labels['alertname'], alert.status.state, alert.status.silencedBy]),
  );
  assert.deepEqual(shown.sort(), [
    [{ name: 'signalbox' }, 'Slow', 'suppressed', [silence.id]],
    [{ name: 'signalbox' }, 'backup', 'active', []],
  ]);
  const [first] = await ask<AlertmanagerSilence[]>(app, 'silences');
  assert.deepEqual([first?.id, first?.matchers[0]?.isEqual], [silence.id, true]);
});

test('a silence that cannot be used is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const matcher = { name: 'a', value: 'b', isRegex: false };
  const usual = { startsAt: inHours(0), endsAt: inHours(1), createdBy: '', comment: '', matchers: [matcher] };
  const refused: [object, RegExp][] = [
    [{ matchers: [] }, /matchers/],
    [{ matchers: [{ ...matcher, value: '' }] }, /must not match the empty string/],
    [{ matchers: [{ ...matcher, value: '(', isRegex: true }] }, /cannot be used/],
    [{ matchers: [{ ...matcher, value: '(.{500}){2}', isRegex: true }] }, /too large/],
    [{ endsAt: inHours(-1) }, /endsAt must be in the future/],
    [{ startsAt: inHours(2) }, /endsAt must be after startsAt/],
    [{ startsAt: 'now' }, /startsAt must be an RFC 3339 time/],
  ];
  for (const [changes, message] of refused) {
    const body = { ...usual, ...changes };
    const { status, json } = await app.request('POST', '/api/v2/silences', { token, body });
    assert.equal(status, 400, JSON.stringify(changes));
    assert.match(String(json), message);
  }
  assert.equal((await app.request('POST', '/api/v2/silences', { body: usual })).status, 401);
});
