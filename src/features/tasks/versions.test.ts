import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';

for (const store of ['memory', 'file'] as const) {
  const start = (t: Parameters<typeof startApp>[0]): Promise<TestApp> =>
    startApp(t, { settings: { store, dataDir: createFolder(t) } });

  test(`${store}: each change of a task increments its version, which is the ETag`, async (t) => {
    const { request } = await start(t);
    const etagOf = async (method: string, path: string, body?: object) =>
      (await request(method, path, { body })).headers['etag'];
    assert.equal(await etagOf('POST', '/api/tasks', { Title: 'a' }), '"1"');
    assert.equal(await etagOf('GET', '/api/tasks/1'), '"1"');
    assert.equal(await etagOf('PUT', '/api/tasks/1', { Title: 'b' }), '"2"');
    assert.equal(await etagOf('PUT', '/api/tasks/1', {}), '"3"');
    assert.equal(await etagOf('HEAD', '/api/tasks/1'), '"3"');
  });

  test(`${store}: with If-Match a task is changed or deleted only in that version`, async (t) => {
    const { request } = await start(t);
    await request('POST', '/api/tasks', { body: { Title: 'a' } });
    const send = (method: string, version: string) =>
      request(method, '/api/tasks/1', {
        body: method === 'PUT' ? { Title: version } : undefined,
        headers: { 'if-match': version },
      });
    assert.equal((await send('PUT', '"1"')).status, 200);
    for (const version of ['"1"', 'W/"1"', '"1-gzip"', '"2-other"', '"x"', '"02"', '"1", "3"']) {
      for (const method of ['PUT', 'DELETE']) {
        const { status, headers, json } = await send(method, version);
        assert.deepEqual([status, headers['etag']], [412, '"2"'], version);
        assert.deepEqual(json, { error: 'The task was changed in the meantime: read the task again' });
      }
    }
    for (const version of ['2', '"2', '"2" "3"', '', '*, "2"'])
      assert.equal((await send('PUT', version)).status, 400, version);
    assert.equal((await send('PUT', '"1", "2"')).status, 200);
    assert.equal((await send('PUT', '*')).status, 200);
    assert.equal((await send('DELETE', '"4"')).status, 200);
    assert.equal((await send('DELETE', '"4"')).status, 404);
  });

  test(`${store}: If-Match accepts a version with the mark of a compressing proxy`, async (t) => {
    const { request } = await start(t);
    await request('POST', '/api/tasks', { body: { Title: 'a' } });
    const forms = ['W/"N"', '"N-gzip"', 'W/"N-gzip"', '"N-br"', '"N-zstd"', '"N-deflate"', '"N;gzip"', '"N--gzip"'];
    for (const [index, form] of forms.entries()) {
      const headers = { 'if-match': `"999", ${form.replace('N', `${index + 1}`)}` };
      assert.equal((await request('PUT', '/api/tasks/1', { body: {}, headers })).status, 200, form);
    }
  });

  test(`${store}: one of several concurrent changes with the same If-Match succeeds`, async (t) => {
    const { request } = await start(t);
    await request('POST', '/api/tasks', { body: { Title: 'a' } });
    const sent = Array.from({ length: 20 }, (_, index) =>
      request('PUT', '/api/tasks/1', { body: { Title: `${index}` }, headers: { 'if-match': '"1"' } }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [200, ...Array(19).fill(412)]);
  });

  test(`${store}: a repeated POST with one Idempotency-Key creates one task`, async (t) => {
    const { request } = await start(t);
    const headers = { 'idempotency-key': 'one' };
    const post = (body: object) => request<{ Id: number }>('POST', '/api/tasks', { body, headers });
    const first = await post({ Title: 'a', Priority: 'High' });
    await request('PUT', '/api/tasks/1', { body: { Title: 'changed' } });
    const again = await post({ Priority: 'High', Title: 'a' });
    assert.deepEqual([again.status, again.text, again.headers['etag']], [201, first.text, '"1"']);
    assert.deepEqual([(await post({ Title: 'b' })).status, (await post({ Title: '' })).status], [422, 400]);
    await request('DELETE', '/api/tasks/1');
    assert.equal((await post({ Title: 'a', Priority: 'High' })).text, first.text);
    assert.equal((await request<{ total: number }>('GET', '/api/tasks')).json.total, 0);
    for (const key of ['', 'x'.repeat(257)]) {
      const { status } = await request('POST', '/api/tasks', {
        body: { Title: 'c' },
        headers: { 'idempotency-key': key },
      });
      assert.equal(status, 400);
    }
  });

  test(`${store}: concurrent equal requests with one Idempotency-Key create one task`, async (t) => {
    const { request } = await start(t);
    const sent = Array.from({ length: 20 }, () =>
      request('POST', '/api/tasks', { body: { Title: 'a' }, headers: { 'idempotency-key': 'one' } }),
    );
    const [first, ...others] = await Promise.all(sent);
    assert.equal(first?.status, 201);
    for (const { status, text } of others) assert.deepEqual([status, text], [201, first.text]);
    assert.equal((await request<{ total: number }>('GET', '/api/tasks')).json.total, 1);
  });

  test(`${store}: the Idempotency-Keys of large tasks are forgotten, the oldest first, before they take much memory`, async (t) => {
    const { request } = await start(t);
    const body = { Title: 'a', Description: 'd'.repeat(1_000_000) };
    const post = async (key: number) => {
      const { json } = await request('POST', '/api/tasks', { body, headers: { 'idempotency-key': `${key}` } });
      await request('DELETE', `/api/tasks/${json['Id']}`);
      return json['Id'];
    };
    for (let key = 1; key <= 40; key += 1) assert.equal(await post(key), key);
    assert.deepEqual([await post(40), await post(30)], [40, 30]);
    assert.equal(await post(1), 41);
  });
}
