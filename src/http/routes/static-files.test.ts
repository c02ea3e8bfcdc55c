import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Fastify from 'fastify';
import { listen } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { serveStaticFiles } from './static-files.ts';

test('pages are served from more than one folder, each with its own policy', async (t) => {
  const folder = createFolder(t);
  const app = Fastify();
  for (const name of ['one', 'two']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'index.html'), name);
    writeFileSync(join(folder, name, `${name}.txt`), name);
    await serveStaticFiles(app, { prefix: `/${name}/`, root: join(folder, name), policy: `script-src '${name}'` });
  }
  const { request } = await listen(t, app);
  for (const name of ['one', 'two']) {
    for (const path of [`/${name}/`, `/${name}/${name}.txt`]) {
      const { status, text, headers } = await request('GET', path);
      assert.deepEqual([status, text, headers['content-security-policy']], [200, name, `script-src '${name}'`]);
    }
    assert.equal((await request('GET', `/${name}`)).headers['location'], `/${name}/`);
  }
  assert.equal((await request('GET', '/one/two.txt')).status, 404);
});
