import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { listen } from '../../../test/support/app.ts';
import type { Scope } from '../../../test/support/scope.ts';
import { StaticText } from './static-text.ts';

const content = 'a text that is sent often, often, often, often, often, often, often, often\n';

/** A function that requests the text with these headers. */
const serve = async (t: Scope) => {
  const app = Fastify();
  const text = new StaticText(Buffer.from(content));
  app.get('/', (request, reply) => text.send(request, reply.type('text/plain')));
  const { url } = await listen(t, app);
  return (headers: Record<string, string>) => fetch(url, { headers });
};

test('a text is compressed for clients that accept gzip', async (t) => {
  const get = await serve(t);
  for (const accepted of ['gzip', 'br, GZIP;q=0.5', 'gzip; q=1.000, *', 'deflate,gzip']) {
    const response = await get({ 'accept-encoding': accepted });
    assert.equal(response.headers.get('content-encoding'), 'gzip', accepted);
    assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    assert.ok(Number(response.headers.get('content-length')) < content.length);
    assert.equal(await response.text(), content);
  }
  for (const accepted of ['', 'identity', 'gzip;q=0', 'gzip ; q=0.000', 'br', 'xgzip', 'gzipped']) {
    const response = await get({ 'accept-encoding': accepted });
    assert.equal(response.headers.get('content-encoding'), null, accepted);
    assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    assert.equal(await response.text(), content);
  }
});

test('a client that has a text gets 304, whether compressed or not', async (t) => {
  const get = await serve(t);
  const tags = new Set<string>();
  for (const accepted of ['gzip', 'identity']) {
    const headers = { 'accept-encoding': accepted };
    const tag = (await get(headers)).headers.get('etag') ?? '';
    tags.add(tag);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const response = await get({ ...headers, 'if-none-match': known });
      assert.deepEqual([response.status, await response.text()], [304, '']);
      assert.equal(response.headers.get('etag'), tag);
    }
    assert.equal((await get({ ...headers, 'if-none-match': '"other"' })).status, 200);
  }
  assert.equal(tags.size, 2);
});
