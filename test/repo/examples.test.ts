import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { startApp } from '../support/app.ts';
import { startProgram } from '../support/program.ts';
import { readText, toBlocks } from './support/documents.ts';

interface Counts {
  total: number;
}

test('examples/seed.json loads records of each kind', async (t) => {
  const seed = JSON.parse(readText('examples/seed.json'));
  const { request, login } = await startApp(t, { seed });
  const tasks = await request<Counts>('GET', '/api/tasks?status=Completed');
  const items = await request<Counts>('GET', '/api/items', { token: await login('reader') });
  assert.equal(tasks.json.total, 1);
  assert.equal(items.json.total, seed.items.length);
  assert.match((await request('GET', '/simple/api/tasks')).text, /"status":"done"/);
});

const configs = ['examples/signalbox.json', 'deploy/debian/config.json', 'deploy/container/config.json'];

for (const file of configs) {
  test(`a server started with ${file} has every route of the default server`, async (t) => {
    type Paths = { paths: Record<string, Record<string, object>> };
    const { json: full } = await (await startApp(t)).request<Paths>('GET', '/openapi.json');
    const { request } = await startProgram(t, ['--config', join(packageRoot, ...file.split('/'))]);
    const routes = Object.entries(full.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, '1')] as const),
    );
    assert.ok(routes.length > 80);
    const unknown = (await request('GET', '/api/no-such-route')).text;
    for (const [method, path] of routes) {
      // The stream of events would not end.
      const { status, text } = await request(path === '/api/events' ? 'HEAD' : method, path);
      assert.ok(status !== 405 && text !== unknown, `${method} ${path}: ${text}`);
    }
  });
}

test('examples/signalbox.json requires a login and is shown in docs/reference/configuration.md', async (t) => {
  const args = ['--config', join(packageRoot, 'examples', 'signalbox.json')];
  const { request, output } = await startProgram(t, args);
  assert.equal((await request('GET', '/health')).status, 200);
  assert.equal((await request('GET', '/api/alerts')).status, 401);
  assert.match(output.stdout, /Create the first account/);
  const [shown] = toBlocks(readText('docs/reference/configuration.md'), 'json');
  assert.equal(shown, readText('examples/signalbox.json'));
});

/** Expected preview for each format in examples/intake, created from the body next to it. */
const previews: Record<string, object> = {
  gitlab: {
    source: 'gitlab/web/shop',
    level: 'ERROR',
    message: 'Pipeline 31 on main: failed',
    hostname: 'gitlab.example.org',
    status: 'firing',
    key: 'web/shop main',
    labels: { branch: 'main', commit: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2', by: 'anna' },
    link: 'https://gitlab.example.org/web/shop/-/pipelines/31',
  },
  sentry: {
    source: 'sentry/shop',
    level: 'ERROR',
    message: 'SHOP-7: ReferenceError: heck is not defined',
    hostname: 'unknown',
    status: 'firing',
    key: '1170820242',
    labels: { culprit: '?(<anonymous>)', platform: 'javascript' },
    link: 'https://sentry.io/organizations/example/issues/1170820242/',
  },
  'home-assistant': {
    source: 'home-assistant/Kitchen',
    level: 'ERROR',
    message: 'The freezer is at -9 °C',
    hostname: 'unknown',
    status: 'firing',
    key: 'sensor.freezer',
    labels: { entity: 'sensor.freezer' },
    link: null,
  },
};

test('each format in examples/intake reads the body next to it', async (t) => {
  const files = readdirSync(join(packageRoot, 'examples', 'intake'));
  const names = files.filter((file) => !file.endsWith('.body.json')).map((file) => file.replace('.json', ''));
  assert.deepEqual(names.toSorted(), Object.keys(previews).toSorted());
  const read = (file: string) => JSON.parse(readText(`examples/intake/${file}`));
  const app = await startApp(t, { settings: { intake: names.map((name) => read(`${name}.json`)) } });
  for (const name of names) {
    const { json } = await app.request<{ data: object[] }>('POST', `/api/intake-formats/${name}/test`, {
      token: await app.login('admin'),
      body: { body: read(`${name}.body.json`) },
    });
    assert.deepEqual(json.data, [previews[name]]);
    assert.equal((await app.request('POST', `/api/alert/${name}`, { body: read(`${name}.body.json`) })).status, 200);
  }
});
