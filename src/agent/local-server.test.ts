import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../test/support/folder.ts';
import { atEnd } from '../../test/support/scope.ts';
import { LocalServer } from './local-server.ts';

test('a request whose target is no path gets 404, and the log has no error', async (t) => {
  const errors: unknown[] = [];
  const handlers = { receiveAlert: async () => '', receivePing: async () => false };
  const server = new LocalServer(handlers, { error: (...all: unknown[]) => void errors.push(all) });
  const socketPath = join(createFolder(t), 'agent.sock');
  await server.listen(socketPath);
  atEnd(t, () => server.close());
  const ask = (method: string, path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ socketPath, method, path }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  for (const path of ['//', 'http://[', '*', '/ping/a/b/c', '/?/ping/a'])
    assert.equal(await ask('GET', path), 404, path);
  assert.equal(await ask('POST', '/ping/nightly?rid=a?b'), 200);
  assert.deepEqual(errors, []);
});
