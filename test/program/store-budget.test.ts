import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../support/client.ts';
import { createFolder } from '../support/folder.ts';
import { amount, cases } from '../support/long.ts';
import { refusal, startProgram } from '../support/program.ts';

const full = (bytes: number): string =>
  `Tasks and items take up all of storeMaxBytes (${bytes}): delete tasks or items, or raise storeMaxBytes`;

/** Number of refusals after which the clients stop, and the milliseconds that this may take. */
const enough = amount(40, 100);
const longest = 120_000;

for (const store of cases(['file', 'memory'])) {
  test(`${store}: clients that post large tasks fill the store, not the memory, and the server keeps running`, async (t) => {
    const variables = { NODE_OPTIONS: '--max-old-space-size=256' };
    const server = await startProgram(t, ['--store', store, '--max-event-loop-delay', '0'], { variables });
    const deadline = performance.now() + longest;
    const refusals: string[] = [];
    let stored = 0;
    const post = async (filler: string): Promise<void> => {
      const { request, close } = createClient(server.url);
      t.after(close);
      while (refusals.length < enough && performance.now() < deadline) {
        const body = { Title: 'x', Description: filler };
        const headers = { 'idempotency-key': `${filler[0]}${stored}` };
        const { status, json } = await request('POST', '/api/tasks', { body, headers });
        if (status === 201) stored += 1;
        else refusals.push(`${status} ${json['error']}`);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map((letter) => post(letter.repeat(900_000))));
    assert.equal(server.child.exitCode, null, server.output.stderr.slice(-2000));
    assert.ok(stored > 100, `${stored} tasks`);
    const [reason = '', ...others] = new Set(refusals);
    assert.match(
      reason,
      /^503 Tasks and items take up all of storeMaxBytes \(\d+\): delete tasks or items, or raise storeMaxBytes$/,
    );
    assert.deepEqual(others, []);
    for (const path of ['/health', '/api/tasks/1', '/api/tasks?limit=1', '/ready']) {
      assert.equal((await server.request('GET', path)).status, 200, path);
    }
    assert.equal((await server.request('DELETE', '/api/tasks/1')).status, 200);
    const body = { Title: 'x', Description: 'a'.repeat(800_000) };
    assert.equal((await server.request('POST', '/api/tasks', { body })).status, 201);
    assert.equal((await server.stop()).code, 0);
  });
}

for (const store of ['memory', 'file']) {
  test(`${store}: above storeMaxBytes only changes that grow the store are refused`, async (t) => {
    const args = ['--store', store, '--store-max-bytes', '10000'];
    const cwd = createFolder(t);
    const { request, stop } = await startProgram(t, args, { cwd });
    const send = async (method: string, path: string, body?: object) => {
      const { status, json } = await request(method, path, { body });
      return status === 503 ? json['error'] : status;
    };
    const text = (length: number): string => 'x'.repeat(length);
    assert.equal(await send('POST', '/api/tasks', { Title: 'x', Description: text(6000) }), 201);
    assert.equal(await send('POST', '/simple/api/tasks', { title: text(3000) }), 201);
    assert.equal(await send('POST', '/api/tasks', { Title: 'x', Description: text(3000) }), full(10_000));
    assert.equal(await send('POST', '/simple/api/tasks', { title: text(3000) }), full(10_000));
    assert.equal(await send('PUT', '/api/tasks/1', { Description: text(7000) }), full(10_000));
    assert.equal((await request('GET', '/api/tasks/2')).status, 404);
    assert.equal(await send('PUT', '/api/tasks/1', { Description: text(1000) }), 200);
    assert.equal(await send('POST', '/api/tasks', { Title: 'x', Description: text(3000) }), 201);
    // Each character takes two bytes.
    assert.equal(await send('POST', '/api/tasks', { Title: 'x', Description: '\u4e2d'.repeat(1500) }), full(10_000));
    assert.equal(await send('DELETE', '/api/tasks/2'), 200);
    assert.equal(await send('POST', '/api/tasks', { Title: 'x', Description: '\u4e2d'.repeat(1500) }), 201);
    await stop();
    if (store === 'memory') return;
    const again = await startProgram(t, ['--store', store, '--store-max-bytes', '1000'], { cwd });
    assert.equal((await again.request('GET', '/api/tasks')).json['total'], 2);
    assert.equal((await again.request('POST', '/api/tasks', { body: { Title: 'x' } })).json['error'], full(1000));
    assert.equal((await again.request('DELETE', '/api/tasks/1')).status, 200);
  });
}

test('a store budget above the JavaScript heap is refused', async () => {
  assert.match(
    await refusal(['--store-max-bytes', '99000000000000'], 1),
    /^storeMaxBytes 99000000000000 is more than the \d+ bytes of the JavaScript heap; lower storeMaxBytes, or start with NODE_OPTIONS=--max-old-space-size=\d+$/,
  );
});
