import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import sqlite from 'node-sqlite3-wasm';
import type { Heartbeat } from '../../src/features/heartbeats/schema.ts';
import type { Watch } from '../../src/features/watches/schema.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { adminToken } from '../support/outbox.ts';
import { runCommand } from '../support/program.ts';
import { atEnd } from '../support/scope.ts';

/** Database of Uptime Kuma 2, created through Uptime Kuma's own API. */
const kuma = gunzipSync(readFileSync(new URL('../fixtures/imports/kuma.db.gz', import.meta.url)));

/**
 * Starts a server. Returns a function that imports as an administrator, and functions that read a watch and all
 * definitions.
 */
const start = async (t: TestContext) => {
  const folder = createFolder(t);
  const app = await startApp(t, { settings: { defaultWatches: false } });
  const token = await adminToken(app);
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const run = (from: string, place: string, args: string[] = [], variables: Record<string, string> = {}) =>
    runCommand(['import-checks', '--from', from, place, ...args], {
      variables: { SIGNALBOX_URL: app.url, SIGNALBOX_KEY: token, COLUMNS: '200', ...variables },
    });
  const list = async <T>(kind: string): Promise<T[]> =>
    (await app.request<{ data: T[] }>('GET', `/api/${kind}`, { token })).json.data;
  const post = (path: string) => app.request('POST', path, { token });
  const settingsOf = async (name: string) =>
    (await list<Watch>('watches')).find((watch) => watch.name === name)?.settings;
  /** Writes Uptime Kuma's database after changes in SQL. Returns its path. */
  const writeKuma = (name: string, ...changes: string[]): string => {
    const bytes = Uint8Array.from(kuma);
    // WebAssembly cannot open a database in WAL mode.
    bytes.set([1, 1], 18);
    const path = write(name, bytes);
    const database = new sqlite.Database(path);
    for (const change of changes) database.exec(change);
    database.close();
    return path;
  };
  return { url: app.url, run, write, writeKuma, list, post, settingsOf };
};

test('a plan for Uptime Kuma names the new checks and the reasons against others, and changes nothing', async (t) => {
  const { run, write, list } = await start(t);
  const { code, stdout, stderr } = await run('uptime-kuma', write('kuma.db', kuma), ['--plan']);
  assert.deepEqual(
    [code, stdout.split('\n').filter((line) => /^create (?:watch|heartbeat) /.test(line)).length],
    [0, 14],
    stdout,
  );
  assert.match(stdout, /^not imported: check API odd: the JSON query "\$sum\(items\.price\)" is not a plain path$/m);
  assert.match(stdout, /^not imported: check Broker: monitors of type mqtt are not supported$/m);
  assert.match(stdout, /^not imported: check Old site: monitors with Upside Down Mode are not supported$/m);
  assert.match(stdout, /^Nothing has changed/m);
  assert.equal(stderr, '');
  assert.equal((await list<Watch>('watches')).filter(({ origin }) => origin === 'made').length, 0);
});

test('an import from Uptime Kuma creates watches and heartbeats, and a second import changes nothing', async (t) => {
  const { run, write, list, settingsOf } = await start(t);
  const path = write('kuma.db', kuma);
  const first = await run('uptime-kuma', path, ['--apply']);
  assert.equal(first.code, 0, first.stdout);
  assert.deepEqual(await settingsOf('Shop-front-page'), {
    name: 'Shop-front-page',
    type: 'http',
    url: 'https://shop.example/',
    headers: { Accept: 'text/html' },
    status: '200-299,401',
    redirects: 10,
    certificateDays: 14,
    every: 60,
    retries: 1,
  });
  const watches = await Promise.all(
    ['Shop-health', 'No-maintenance', 'API-version', 'Orders-database', 'Mail-records', 'Staging'].map(settingsOf),
  );
  const [health, lacks, version, orders, mail, staging] = watches;
  assert.deepEqual([health?.method, health?.body, health?.contains], ['POST', '{"a":1}', 'ok']);
  assert.equal(lacks?.lacks, 'maintenance');
  assert.deepEqual(version?.json, [{ pointer: '/data/version', is: '=', value: 3 }]);
  assert.deepEqual(
    [orders?.host, orders?.port, orders?.user, orders?.database],
    ['db.example', 5433, 'watcher', 'orders'],
  );
  assert.deepEqual([mail?.record, mail?.server, staging?.enabled], ['MX', '127.0.0.1', false]);
  const [heartbeat] = await list<Heartbeat>('heartbeats');
  assert.deepEqual([heartbeat?.name, heartbeat?.period], ['Nightly-backup', 86_400]);
  const before = [await list('watches'), await list('heartbeats')].map((all) => all.length);
  const second = await run('uptime-kuma', path, ['--apply']);
  assert.deepEqual([second.code, /^create /m.test(second.stdout)], [0, false]);
  assert.deepEqual(
    [await list('watches'), await list('heartbeats')].map((all) => all.length),
    before,
  );
});

test('a damaged database, one of a running Uptime Kuma, or another file is refused with one line', async (t) => {
  const { run, write, writeKuma } = await start(t);
  const damaged = Uint8Array.from(kuma);
  damaged.fill(255, 100);
  const busy = write('busy.db', kuma);
  write('busy.db-wal', 'changes');
  for (const [path, reason] of [
    [write('damaged.db', damaged), /the monitors cannot be read: /],
    [write('cut.db', kuma.subarray(0, 5000)), /the monitors cannot be read: /],
    [write('text.db', 'no database'), /is not an SQLite database/],
    [write('empty.db', ''), /is not an SQLite database/],
    [
      writeKuma(
        'view.db',
        'DROP TABLE monitor',
        `CREATE VIEW monitor AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 20000)
         SELECT id, 'x' AS name, 'ping' AS type, 'x' AS hostname FROM n`,
      ),
      /: the database has no monitor table$/m,
    ],
    [
      writeKuma(
        'many.db',
        `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 10000)
         INSERT INTO monitor (name, type) SELECT 'x', 'group' FROM n`,
      ),
      /: the database has more than 10,000 monitors$/m,
    ],
    [busy, /busy\.db-wal has changes .*: stop Uptime Kuma, and try again/],
    ['/nowhere/kuma.db', /nowhere\/kuma\.db: /],
  ] as const) {
    const { code, stdout, stderr } = await run('uptime-kuma', path, ['--apply']);
    assert.deepEqual([code, stdout, stderr.trim().split('\n').length], [1, '', 1], `${path}: ${stderr}`);
    assert.match(stderr, reason);
  }
});

test('a connection string that is not a URL leaves out its monitor only', async (t) => {
  const { run, writeKuma } = await start(t);
  const path = writeKuma(
    'percent.db',
    "UPDATE monitor SET database_connection_string = 'postgres://user:pa%ss@db.example/x' WHERE id = 10",
  );
  const { code, stdout, stderr } = await run('uptime-kuma', path);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^not imported: check Orders database: the connection string is not a URL$/m);
  assert.match(stdout, /^create watch Cache/m);
});

test('an import from Uptime Kuma keeps comparisons, passwords and pauses, and names the settings that it drops', async (t) => {
  const { run, writeKuma, list, settingsOf } = await start(t);
  const path = writeKuma(
    'kuma2.db',
    'PRAGMA foreign_keys = OFF',
    'ALTER TABLE monitor ADD COLUMN json_path_operator VARCHAR(255)',
    "ALTER TABLE monitor ADD COLUMN conditions TEXT NOT NULL DEFAULT '[]'",
    "UPDATE monitor SET json_path_operator = '>', expected_value = '5' WHERE id = 4",
    "UPDATE monitor SET json_path = 'a', json_path_operator = 'contains' WHERE id = 5",
    "UPDATE monitor SET database_connection_string = 'mysql://wiki@db.example/wiki', radius_password = 'own%' WHERE id = 11",
    'UPDATE monitor SET active = 0 WHERE id = 9',
    'UPDATE monitor SET timeout = 5, proxy_id = 1 WHERE id = 1',
    `UPDATE monitor SET conditions = '[{"type":"expression"}]' WHERE id = 8`,
  );
  const { code, stdout } = await run('uptime-kuma', path, ['--apply']);
  assert.equal(code, 0, stdout);
  for (const line of [
    /^create watch Shop-front-page: .*; the timeout of 5 seconds is not imported; the proxy is not imported$/m,
    /^create watch Mail-records: .*; the conditions are not imported$/m,
    /^create heartbeat Nightly-backup: .*; is paused$/m,
    /^not imported: check API odd: the comparison "contains" is not supported$/m,
  ])
    assert.match(stdout, line);
  assert.deepEqual((await settingsOf('API-version'))?.json, [{ pointer: '/data/version', is: '>', value: 5 }]);
  assert.equal((await list<Heartbeat>('heartbeats'))[0]?.state, 'paused');
  const login = stdout.split('\n').find((line) => line.includes('Wiki-database'));
  assert.ok(login && !login.includes('own%'), login);
});

test('an endpoint of Gatus that cannot be converted is left out with the reason, and the others are imported', async (t) => {
  const { run, write } = await start(t);
  const text = 'endpoints: [{ name: odd, url: { toString: 1 } }, { name: good, url: "https://shop.example/" }]';
  const { code, stdout, stderr } = await run('gatus', write('odd.yaml', text));
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^not imported: check odd: the check cannot be converted: .+$/m);
  assert.match(stdout, /^create watch good/m);
});

const gatus = `
endpoints:
  - name: front
    group: shop
    url: https://shop.example/health
    interval: 1m30s
    headers: { Accept: application/json }
    conditions:
      - "[STATUS] == any(200, 204)"
      - "[RESPONSE_TIME] < 500"
      - "[CERTIFICATE_EXPIRATION] > 48h"
      - "[BODY].data[0].state == UP"
      - "[BODY] == pat(*ok*)"
      - "len([BODY].data) > 1"
    alerts: [{ type: slack, failure-threshold: 5 }]
  - { name: ssh, url: "ssh://host.example:22", conditions: ["[CONNECTED] == true"] }
  - { name: db, url: "tcp://db.example:5432", enabled: false, conditions: ["[CONNECTED] == true"] }
  - { name: router, url: "icmp://192.0.2.1", conditions: ["[CONNECTED] == true"] }
  - name: names
    url: 192.0.2.53
    dns: { query-name: shop.example, query-type: A }
    conditions: ["[BODY] == 192.0.2.7", "[DNS_RCODE] == NOERROR"]
external-endpoints:
  - { name: backup, token: x, heartbeat: { interval: 24h } }
  - { name: manual, token: y }
`;

test('an import from Gatus converts conditions, and names those that a watch cannot express', async (t) => {
  const { run, write, list, settingsOf } = await start(t);
  const { code, stdout } = await run('gatus', write('gatus.yaml', gatus), ['--apply']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^create watch shop-front: condition len\(\[BODY\]\.data\) > 1 is not imported$/m);
  assert.match(stdout, /^not imported: check ssh: no watch type exists for ssh:\/\/$/m);
  assert.match(stdout, /^not imported: check manual: heartbeat\.interval/m);
  assert.deepEqual(await settingsOf('shop-front'), {
    name: 'shop-front',
    type: 'http',
    url: 'https://shop.example/health',
    headers: { Accept: 'application/json' },
    status: '200,204',
    limit: 500,
    certificateDays: 2,
    json: [{ pointer: '/data/0/state', is: '=', value: 'UP' }],
    contains: 'ok',
    every: 90,
    retries: 4,
  });
  const [db, router, names] = await Promise.all(['db', 'router', 'names'].map(settingsOf));
  assert.deepEqual([db?.type, db?.port, db?.enabled], ['tcp', 5432, false]);
  assert.deepEqual([router?.type, router?.host], ['ping', '192.0.2.1']);
  assert.deepEqual([names?.host, names?.server, names?.expected], ['shop.example', '192.0.2.53', '192.0.2.7']);
  assert.equal((await list<Heartbeat>('heartbeats'))[0]?.period, 86_400);
  for (const text of ['a: [', '[]', 'endpoints: 3', '']) {
    const refused = await run('gatus', write('bad.yaml', text), ['--apply']);
    assert.deepEqual([refused.code, refused.stderr.trim().split('\n').length], [1, 1], refused.stderr);
  }
});

test('an import from Gatus leaves out endpoints with a variable, and names settings that it drops', async (t) => {
  const { run, write, settingsOf } = await start(t);
  const text = `
endpoints:
  - { name: secret, url: "https://shop.example/", headers: { Authorization: "Bearer \${TOKEN}" } }
  - { name: bare, url: "https://$HOST/" }
  - name: dollar
    url: "https://shop.example/?price=$$5"
    headers: { authorization: Bearer x }
    client: { insecure: true, timeout: 5s }
    ui: { hide-url: true }
  - { name: plain, url: "https://shop.example/", client: { insecure: false, timeout: 10s } }
`;
  const { code, stdout } = await run('gatus', write('gatus.yaml', text), ['--apply']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^not imported: check secret: environment variables are not supported$/m);
  assert.match(stdout, /^not imported: check bare: environment variables are not supported$/m);
  assert.match(stdout, /^create watch plain$/m);
  assert.match(
    stdout,
    /^create watch dollar: anyone with access to watches can read the header Authorization; client\.insecure is not imported; client\.timeout is not imported; ui is not imported$/m,
  );
  assert.equal((await settingsOf('dollar'))?.url, 'https://shop.example/?price=$5');
});

const address = '5f8a0b1c-0000-4000-8000-0123456789ab';
const healthchecks = {
  checks: [
    {
      name: 'Nightly dump',
      tags: 'db prod',
      desc: 'see the wiki',
      grace: 3600,
      timeout: 86_400,
      ping_url: `https://hc-ping.com/${address}`,
    },
    { name: 'Cron', tags: '', desc: '', grace: 60, schedule: '5 4 * * *', tz: 'Europe/Berlin', unique_key: 'a6c7b0a8' },
    { name: 'Calendar', tags: '', desc: '', grace: 60, schedule: 'Mon..Fri 09:00', tz: 'UTC' },
    { name: 7 },
  ],
};

test('an import from the URL of healthchecks keeps the addresses of pings', async (t) => {
  const { run, list } = await start(t);
  const server = createServer((request, response) => {
    response.statusCode = request.headers['x-api-key'] === 'secret' ? 200 : 401;
    response.end(JSON.stringify(healthchecks));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3/checks/`;
  const without = await run('healthchecks', url, ['--apply']);
  assert.deepEqual([without.code, /SIGNALBOX_IMPORT_KEY/.test(without.stderr)], [2, true]);
  const refused = await run('healthchecks', url, ['--apply'], { SIGNALBOX_IMPORT_KEY: 'other' });
  assert.deepEqual([refused.code, /responded 401/.test(refused.stderr)], [1, true], refused.stderr);
  const { code, stdout } = await run('healthchecks', url, ['--apply'], { SIGNALBOX_IMPORT_KEY: 'secret' });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^create heartbeat Cron: gets a new address/m);
  assert.match(stdout, /^not imported: check Calendar: the schedule "Mon\.\.Fri 09:00"/m);
  const [cron, dump] = await list<Heartbeat>('heartbeats');
  assert.deepEqual([cron?.schedule, cron?.timeZone, cron?.grace], ['5 4 * * *', 'Europe/Berlin', 60]);
  assert.deepEqual(
    [dump?.name, dump?.uuid, dump?.period, dump?.grace, dump?.tags],
    ['Nightly-dump', address, 86_400, 3600, ['db', 'prod']],
  );
});

test('a refused setting gives exit code 1, the others are created, and a paused check stays paused', async (t) => {
  const { run, write, list } = await start(t);
  const checks = [
    { name: 'idle', grace: 60, timeout: 600, status: 'paused' },
    { name: 'bad', grace: 60, schedule: '99 4 * * *' },
    { name: 'good', grace: 60, timeout: 600 },
  ];
  const { code, stdout, stderr } = await run('healthchecks', write('checks.json', JSON.stringify({ checks })), [
    '--apply',
  ]);
  assert.equal(code, 1);
  assert.match(stdout, /^2 of 3 changes applied\.$/m);
  assert.match(stderr, /heartbeat bad: .*schedule/);
  assert.deepEqual(
    (await list<Heartbeat>('heartbeats')).map(({ name, state }) => [name, state]),
    [
      ['good', 'new'],
      ['idle', 'paused'],
    ],
  );
});

/**
 * Starts a proxy in front of a server. `refuses`: the proxy refuses the request. `loses`: the request reaches the server,
 * but its response is lost. Resolves to the URL of the proxy.
 */
const startProxy = async (
  t: TestContext,
  url: string,
  fate: (method: string, path: string) => 'refuses' | 'loses' | undefined,
): Promise<string> => {
  const proxy = createServer(async (request, response) => {
    const { method = 'GET', url: path = '', headers } = request;
    const found = fate(method, path);
    if (found === 'refuses') {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"the disk is full"}');
      return;
    }
    const content = await text(request);
    const kept = Object.entries(headers).filter(([name]) => /^(?:authorization|content-type)$/.test(name));
    const body = content === '' ? {} : { body: content };
    const answer = await fetch(url + path, { method, headers: kept as [string, string][], ...body });
    if (found === 'loses') response.destroy();
    else
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(await answer.text());
  }).listen(0, '127.0.0.1');
  atEnd(t, () => proxy.close());
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
};

const idleAndGood = JSON.stringify({
  checks: [
    { name: 'idle', grace: 60, timeout: 600, status: 'paused', ping_url: `https://hc-ping.com/${address}` },
    { name: 'good', grace: 60, timeout: 600 },
  ],
});

test('a heartbeat whose pause fails is not left live', async (t) => {
  const { run, write, list, url } = await start(t);
  const proxy = await startProxy(t, url, (_, path) => (path.endsWith('/pause') ? 'refuses' : undefined));
  const path = write('checks.json', idleAndGood);
  const { code, stdout, stderr } = await run('healthchecks', path, ['--apply'], { SIGNALBOX_URL: proxy });
  assert.deepEqual([code, stderr.includes('heartbeat idle: ')], [1, true], stderr);
  assert.match(stdout, /^1 of 2 changes applied\.$/m);
  assert.deepEqual(
    (await list<Heartbeat>('heartbeats')).map(({ name }) => name),
    ['good'],
  );
});

const interruptions: Record<string, (method: string) => 'refuses' | 'loses' | undefined> = {
  'the response to its creation was lost': (method) => (method === 'PUT' ? 'loses' : undefined),
  'its pause and its deletion were refused': (method) => (/POST|DELETE/.test(method) ? 'refuses' : undefined),
};

for (const [interruption, fate] of Object.entries(interruptions))
  test(`a repeated import pauses a heartbeat that an import left live because ${interruption}`, async (t) => {
    const { run, write, list, url } = await start(t);
    const proxy = await startProxy(t, url, fate);
    const path = write('checks.json', idleAndGood);
    const first = await run('healthchecks', path, ['--apply'], { SIGNALBOX_URL: proxy });
    assert.notEqual(first.code, 0);
    const stateOf = async (searched: string) =>
      (await list<Heartbeat>('heartbeats')).find(({ name }) => name === searched)?.state;
    assert.equal(await stateOf('idle'), 'new');
    const repeated = await run('healthchecks', path, ['--apply']);
    assert.equal(repeated.code, 0, repeated.stderr);
    assert.match(repeated.stdout, /^replace heartbeat idle: is paused$/m);
    assert.deepEqual([await stateOf('idle'), await stateOf('good')], ['paused', 'new']);
    const last = await run('healthchecks', path, ['--apply']);
    assert.match(last.stdout, /^unchanged heartbeat idle: is paused$/m);
  });

test('a repeated import leaves a heartbeat that was resumed as it is', async (t) => {
  const { run, write, list, post } = await start(t);
  const path = write('checks.json', idleAndGood);
  assert.equal((await run('healthchecks', path, ['--apply'])).code, 0);
  await post('/api/heartbeats/idle/resume');
  const { code, stdout } = await run('healthchecks', path, ['--apply']);
  assert.equal(code, 0);
  assert.match(stdout, /^unchanged heartbeat idle: is paused$/m);
  assert.deepEqual((await list<Heartbeat>('heartbeats')).map(({ state }) => state).sort(), ['new', 'new']);
});

test('a repeated import leaves a heartbeat that was pinged as it is', async (t) => {
  const { run, write, list, url } = await start(t);
  const proxy = await startProxy(t, url, (method) => (method === 'PUT' ? 'loses' : undefined));
  const path = write('checks.json', idleAndGood);
  await run('healthchecks', path, ['--apply'], { SIGNALBOX_URL: proxy });
  assert.equal((await fetch(`${url}/ping/${address}`)).status, 200);
  const { stdout } = await run('healthchecks', path, ['--apply']);
  assert.match(stdout, /^unchanged heartbeat idle/m);
  assert.equal((await list<Heartbeat>('heartbeats')).find(({ name }) => name === 'idle')?.state, 'up');
});
