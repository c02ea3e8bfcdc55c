import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitForCheck } from '../availability/support/availability.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { longTest } from '../support/long.ts';
import { type Running, runProgram, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';
import { addHost, startAgent } from './support/agent.ts';
import { enrol, readHost } from './support/hosts.ts';
import { startHub } from './support/hub.ts';

interface Listed {
  data: { id: string; message: string }[];
}

const listAlerts = async ({ request }: Running, token: string) =>
  (await request<Listed>('GET', '/api/alerts/search?limit=1000', { token })).json.data;

test('the line that add-host prints makes a machine report, and forward its alerts with unchanged ids', async (t) => {
  const { hub, token } = await startHub(t);
  const words = await addHost(hub, token, 'web-1');
  assert.deepEqual(words.slice(0, 3), ['agent', '--hub', hub.url]);
  assert.equal(words.length, 4);
  const agent = await startAgent(t, words);
  await waitUntil('the hub has a report', async () => (await readHost(hub, token, 'web-1')).state === 'up');
  const host = await readHost(hub, token, 'web-1');
  assert.ok((host.readings?.memoryTotal ?? 0) > 0 || host.readings?.processCount);
  assert.equal(statSync(join(agent.dataDir, 'hub.key')).mode & 0o077, 0);
  const id = await agent.send('--level', 'ERROR', '--key', 'disk', 'the disk is full');
  await waitUntil('the hub has the alert', async () => (await listAlerts(hub, token)).some((each) => each.id === id));
  const table = await runProgram(['hosts'], { variables: { SIGNALBOX_URL: hub.url, SIGNALBOX_KEY: token } });
  assert.match(table.stdout, /^web-1 +up/m);
  const shown = await runProgram(['host', 'web-1'], { variables: { SIGNALBOX_URL: hub.url, SIGNALBOX_KEY: token } });
  assert.match(shown.stdout, /State +up/);
  assert.equal(await agent.stop(), 0);
  assert.equal((await readHost(hub, token, 'web-1')).state, 'stopped');
});

test('the hub shows the heartbeats that jobs on a host ping, those with a problem first', async (t) => {
  const { hub, token } = await startHub(t);
  const jobs = { backup: 'true', cleanup: 'false' };
  const dataDir = createFolder(t);
  const config = writeConfig(dataDir, { heartbeats: Object.keys(jobs).map((name) => ({ name, period: 86_400 })) });
  await startAgent(t, [...(await addHost(hub, token, 'web-1')), '--config', config], { dataDir });
  for (const [name, program] of Object.entries(jobs))
    await runProgram(['run', '--data-dir', dataDir, '--heartbeat', name, '--', program]);
  const list = async () => (await readHost(hub, token, 'web-1')).heartbeats;
  await waitUntil(
    'the hub knows both results',
    async () => (await list()).filter(({ lastPingAt }) => lastPingAt !== null).length === 2,
    30_000,
  );
  const heartbeats = await list();
  assert.deepEqual(
    heartbeats.map(({ name, state }) => [name, state]),
    [
      ['cleanup', 'down'],
      ['backup', 'up'],
    ],
  );
  for (const { lastPingAt } of heartbeats) assert.ok(Date.now() - Date.parse(lastPingAt ?? '1970') < 60_000);
});

test('an enrolled agent starts without a code while the hub is down, and alerts from that time arrive once', async (t) => {
  const dataDir = createFolder(t);
  const { hub, token } = await startHub(t, { dataDir });
  const words = await addHost(hub, token, 'web-1');
  const first = await startAgent(t, words);
  await waitUntil('the hub has a report', async () => (await readHost(hub, token, 'web-1')).state === 'up');
  await hub.stop('SIGKILL');
  const ids = [await first.send('one')];
  await first.stop('SIGKILL');
  const second = await startAgent(t, words.slice(0, 3), { dataDir: first.dataDir });
  ids.push(await second.send('two'));
  const { hub: again, token: next } = await startHub(t, { dataDir, port: new URL(hub.url).port });
  await waitUntil('the hub has both alerts', async () => {
    const found = (await listAlerts(again, next)).map(({ id }) => id);
    return ids.every((id) => found.filter((each) => each === id).length === 1);
  });
});

test('each agent on a machine has its own socket', async (t) => {
  const { hub, token } = await startHub(t);
  const agents = [];
  for (const name of ['web-1', 'web-2']) agents.push(await startAgent(t, await addHost(hub, token, name)));
  for (const agent of agents) assert.ok(existsSync(join(agent.dataDir, 'agent.sock')));
  const ids = await Promise.all(agents.map((agent) => agent.send('hello')));
  await waitUntil('the hub has both alerts', async () => {
    const found = await listAlerts(hub, token);
    return ids.every((id) => found.some((each) => each.id === id));
  });
});

longTest(
  'readings from the time in which the hub is unreachable are stored on disk and sent later',
  {
    timeout: 180_000,
  },
  async (t) => {
    const dataDir = createFolder(t);
    const { hub, token } = await startHub(t, { dataDir });
    const agent = await startAgent(t, await addHost(hub, token, 'web-1'));
    await waitUntil('the hub has a report', async () => (await readHost(hub, token, 'web-1')).state === 'up');
    await hub.stop();
    const kept = join(agent.dataDir, 'hub.readings');
    await waitUntil(
      'a minute is on disk',
      () => existsSync(kept) && JSON.parse(readFileSync(kept, 'utf8')).length > 0,
      90_000,
    );
    const { hub: again, token: next } = await startHub(t, { dataDir, port: new URL(hub.url).port });
    await waitUntil('the minutes are delivered', () => JSON.parse(readFileSync(kept, 'utf8')).length === 0, 60_000);
    const { json } = await again.request<{ processCount: (number | null)[] }>(
      'GET',
      '/api/hosts/web-1/history?step=60',
      {
        token: next,
      },
    );
    assert.ok(json.processCount.some((value) => value !== null));
  },
);

test('a killed host becomes silent and is down since its last report; its next report ends both', {
  timeout: 180_000,
}, async (t) => {
  const { hub, token } = await startHub(t, { args: ['--silent-seconds', '20'] });
  const words = await addHost(hub, token, 'web-1');
  const agent = await startAgent(t, words);
  await waitUntil('the hub has a report', async () => (await readHost(hub, token, 'web-1')).state === 'up');
  await agent.stop('SIGKILL');
  const lastReportAt = Date.parse((await readHost(hub, token, 'web-1')).lastReportAt ?? '');
  const find = async (text: RegExp) => (await listAlerts(hub, token)).some(({ message }) => text.test(message));
  await waitUntil('the host is silent', () => find(/^web-1 has not reported since \d\d:\d\d$/), 60_000);
  const silentMs = Date.now() - lastReportAt;
  assert.ok(silentMs >= 20_000 && silentMs < 30_000, `${silentMs} ms`);
  assert.equal((await readHost(hub, token, 'web-1')).openIncidents, 1);
  const { outages } = await waitForCheck(hub, token, 'hosts/web-1', 'down');
  const [outage] = outages;
  assert.deepEqual([outages.length, outage?.incident], [1, 1]);
  assert.ok(Math.abs(Date.parse(outage?.startsAt ?? '') - lastReportAt) <= 1000, outage?.startsAt);
  await startAgent(t, words.slice(0, 3), { dataDir: agent.dataDir });
  await waitUntil('the host reports again', () => find(/^web-1 is reporting again/));
  await waitUntil('the incident is resolved', async () => (await readHost(hub, token, 'web-1')).openIncidents === 0);
  const later = await waitForCheck(hub, token, 'hosts/web-1', 'up');
  assert.deepEqual([later.outageCount, later.outages[0]?.endsAt === null], [1, false]);
});

test('an agent warns that its hub accepts no reports', async (t) => {
  const { hub, token } = await startHub(t);
  const words = await addHost(hub, token, 'web-1');
  const agent = await startAgent(t, words);
  await waitUntil('the hub has a report', async () => (await readHost(hub, token, 'web-1')).state === 'up');
  await hub.stop();
  const port = new URL(hub.url).port;
  await startHub(t, { port, args: ['--profiles', 'login,alerts'] });
  await waitUntil(
    'the agent says so',
    () => agent.output.stderr.includes('the hub does not accept reports, or is older'),
    60_000,
  );
});

test('a server with `hub` in its config file reports and forwards alerts, and an agent reads its key from a variable', async (t) => {
  const { hub, token } = await startHub(t);
  const folder = createFolder(t);
  const keys: string[] = [];
  for (const name of ['web-1', 'web-2']) keys.push(await enrol(hub, token, name));
  const [first = '', second = ''] = keys;
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, first, { mode: 0o600 });
  const config = writeConfig(folder, { hub: { url: hub.url, keyFile }, dataDir: join(folder, 'data') });
  const server = await startProgram(t, ['--config', config]);
  await startAgent(t, ['agent', '--hub', hub.url], { variables: { SIGNALBOX_HUB_KEY: second } });
  for (const name of ['web-1', 'web-2'])
    await waitUntil(`${name} reports`, async () => (await readHost(hub, token, name)).state === 'up');
  const { json } = await server.request('POST', '/api/alert', { body: { message: 'of a server' } });
  await waitUntil('the hub has the alert', async () =>
    (await listAlerts(hub, token)).some(({ id }) => id === json['id']),
  );
});

test('a remote hub without HTTPS, a wrong code and a missing key are refused with a clear message', async (t) => {
  const { hub } = await startHub(t);
  const dataDir = createFolder(t);
  const run = (...args: string[]) => runProgram(['agent', '--data-dir', dataDir, ...args]);
  for (const [args, message] of [
    [['--hub', 'http://desk.example', 'sbh_x'], /must begin with https/],
    [['--hub', hub.url, 'sbh_x'], /This code is unknown, was used, or is older than 30 minutes/],
    [['--hub', hub.url], /hub\.key does not exist: run signalbox add-host/],
    [[], /agent needs the URL of the hub: pass --hub, or set hub in the config file/],
  ] as const) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  }
});

test('agent --install writes absolute paths into the unit', async (t) => {
  const cwd = createFolder(t);
  writeConfig(cwd, { hub: { url: 'https://desk.example' } });
  const { stdout } = await runProgram(['agent', '--install', '--config', 'config.json', '--ca', 'ca.pem'], {
    input: 'n\n',
    cwd,
  });
  assert.ok(stdout.includes(` --ca ${join(cwd, 'ca.pem')} --config ${join(cwd, 'config.json')} `), stdout);
});

test('agent --install shows the unit, and changes nothing unless confirmed', async (t) => {
  const { code, stdout } = await runProgram(['agent', '--install', '--hub', 'https://desk.example'], {
    input: 'n\n',
    cwd: createFolder(t),
  });
  assert.equal(code, 1);
  assert.match(stdout, /ExecStart=.* agent --hub https:\/\/desk\.example --data-dir \/var\/lib\/signalbox-agent/);
  assert.ok(!existsSync('/etc/systemd/system/signalbox-agent.service'));
});
