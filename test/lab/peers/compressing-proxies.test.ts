import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sendAlert } from '../../support/alerts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { requires } from '../faults/support/requirements.ts';
import { findPort, startPeer } from './peer.ts';

/** Proxy that compresses JSON: its program, the arguments that keep it in the foreground, and its settings. */
interface Proxy {
  program: string;
  toArguments: (file: string) => string[];
  toSettings: (parts: { port: number; target: string; folder: string }) => string;
}

const modules = '/usr/lib/apache2/modules';

const loadApacheModules = (): string =>
  ['mpm_event', 'authz_core', 'filter', 'deflate', 'brotli', 'proxy', 'proxy_http']
    .filter((name) => existsSync(`${modules}/mod_${name}.so`))
    .map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`)
    .join('\n');

const toApache = (filter: string): Proxy => ({
  program: 'apache2',
  toArguments: (file) => ['-X', '-f', file],
  toSettings: ({ port, target, folder }) => `
    ServerName 127.0.0.1
    Listen 127.0.0.1:${port}
    PidFile ${folder}/pid
    DefaultRuntimeDir ${folder}
    Mutex file:${folder} default
    ErrorLog ${folder}/errors
    ${loadApacheModules()}
    AddOutputFilterByType ${filter} application/json text/html
    ProxyPreserveHost On
    ProxyPass / ${target}/
  `,
});

const toCaddy = (encoding: string): Proxy => ({
  program: 'caddy',
  toArguments: (file) => ['run', '--config', file],
  toSettings: ({ port, target }) => {
    const encode = { handler: 'encode', encodings: { [encoding]: {} }, minimum_length: 1 };
    const proxy = { handler: 'reverse_proxy', upstreams: [{ dial: new URL(target).host }] };
    const server = {
      listen: [`127.0.0.1:${port}`],
      automatic_https: { disable: true },
      routes: [{ handle: [encode, proxy] }],
    };
    return JSON.stringify({
      admin: { disabled: true, config: { persist: false } },
      apps: { http: { servers: { proxy: server } } },
    });
  },
});

const nginx: Proxy = {
  program: 'nginx',
  toArguments: (file) => ['-e', 'stderr', '-c', file],
  toSettings: ({ port, target, folder }) => `
    daemon off;
    master_process off;
    pid ${folder}/pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      gzip on;
      gzip_types application/json;
      gzip_min_length 1;
      gzip_proxied any;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`).join('\n')}
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass ${target};
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
        }
      }
    }`,
};

const proxies: Record<string, { proxy: Proxy; accepted: string; tag: RegExp }> = {
  'Apache with mod_deflate': { proxy: toApache('DEFLATE'), accepted: 'gzip', tag: /^"[\w-]+-gzip"$/ },
  'Apache with mod_brotli': { proxy: toApache('BROTLI_COMPRESS'), accepted: 'br', tag: /^"[\w-]+-br"$/ },
  'Caddy with gzip': { proxy: toCaddy('gzip'), accepted: 'gzip', tag: /^"[\w-]+"$/ },
  'Caddy with zstd': { proxy: toCaddy('zstd'), accepted: 'zstd', tag: /^"[\w-]+"$/ },
  'nginx with gzip': { proxy: nginx, accepted: 'gzip', tag: /^W\/"[\w-]+"$/ },
};

const start = async (t: TestContext, app: TestApp, { program, toArguments, toSettings }: Proxy): Promise<string> => {
  const port = await findPort();
  const folder = join(app.folder, program);
  mkdirSync(folder);
  const file = join(folder, 'settings');
  writeFileSync(file, toSettings({ port, target: app.url, folder }));
  const url = `http://127.0.0.1:${port}`;
  // Caddy keeps its state in these folders.
  const variables = { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  await startPeer(t, program, toArguments(file), `${url}/health`, variables);
  return url;
};

/** Route with a version: the path of a record, and a change to that record. */
interface Versioned {
  path: string;
  changed: [method: string, path: string, body: object];
}

/** Creates one record of each kind that has versions. */
const makeRecords = async ({ request }: TestApp, token: string): Promise<Versioned[]> => {
  const versions: Versioned[] = [];
  const create = async (method: 'POST' | 'PUT', path: string, body: object): Promise<void> => {
    const { status, text, json } = await request(method, path, { token, body });
    assert.equal(status, 201, text);
    const own = method === 'PUT' ? path : `${path}/${json['id'] ?? json['Id'] ?? json['name']}`;
    versions.push({ path: own, changed: ['PUT', own, body] });
  };
  await create('POST', '/api/tasks', { Title: 'a' });
  await create('PUT', '/api/heartbeats/backup', { period: 3600 });
  await create('POST', '/api/watches', { name: 'root', type: 'disk', metric: 'free', limit: 1 });
  await create('PUT', '/api/destinations/chat', { type: 'webhook', url: 'http://127.0.0.1:1/' });
  await create('POST', '/api/silences', { match: { source: 'shop' }, endsAt: '2099-01-01T00:00:00Z' });
  versions.push({ path: '/api/incidents/1', changed: ['POST', '/api/incidents/1/comment', { comment: 'seen' }] });
  return versions;
};

for (const [name, { proxy, accepted, tag }] of Object.entries(proxies)) {
  const { skip } = requires({ programs: [proxy.program] });
  test(`behind ${name}, a version that a client has read can be sent back`, { skip }, async (t) => {
    const app = await startApp(t);
    await sendAlert(app, { source: 'shop', level: 'ERROR', message: 'failed' });
    const token = await app.login('admin');
    const records = await makeRecords(app, token);
    const url = await start(t, app, proxy);
    const headers = { 'Accept-Encoding': accepted, Authorization: `Bearer ${token}` };
    for (const { path, changed } of records) {
      const read = await fetch(url + path, { headers });
      assert.equal(read.headers.get('content-encoding'), accepted, path);
      const version = read.headers.get('etag') ?? '';
      assert.match(version, tag, path);
      const [method, changing, body] = changed;
      const send = () =>
        fetch(url + changing, {
          method,
          headers: { ...headers, 'If-Match': version },
          body: JSON.stringify(body),
        });
      assert.deepEqual([(await send()).status, (await send()).status], [200, 412], path);
    }
    const page = await fetch(`${url}/console/`, { headers });
    const known = { ...headers, 'If-None-Match': page.headers.get('etag') ?? '' };
    assert.equal((await fetch(`${url}/console/`, { headers: known })).status, 304);
  });
}
