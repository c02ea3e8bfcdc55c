import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { ping } from './support/heartbeats.ts';

const maxOutputsLength = 16 * 1024 * 1024;
const pings = 6;
const names = Array.from({ length: 290 }, (_, index) => `job-${index}`);

/** Returns the lengths of the outputs of each heartbeat, newest first. */
const readLengths = async (app: TestApp, token: string): Promise<number[][]> => {
  const lengths: number[][] = [];
  for (const name of names) {
    const path = `/api/heartbeats/${name}/runs`;
    const { status, json } = await app.request<{ data: { output: string | null }[] }>('GET', path, { token });
    assert.equal(status, 200);
    lengths.push(json.data.map(({ output }) => output?.length ?? 0));
  }
  return lengths;
};

const assertBounded = (lengths: readonly number[][]): void => {
  const total = lengths.flat().reduce((sum, length) => sum + length, 0);
  assert.ok(total <= maxOutputsLength && total > maxOutputsLength / 2, String(total));
  for (const runs of lengths) {
    assert.equal(runs.length, pings);
    assert.equal(runs[0], 10_000, 'the newest output is whole');
  }
};

test('outputs of all heartbeats stay below 16 million characters, also after a restart, and each ping counts', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const output = 'a'.repeat(10_000);
  const headers = { Authorization: `Bearer ${token}` };
  const send = async (name: string): Promise<void> => {
    for (let count = 0; count < pings; count += 1) {
      // A busy machine refuses some pings at first.
      await waitUntil('the ping is accepted', async () => {
        const { status } = await ping(app.url, `${name}?create=1`, { method: 'POST', headers, body: output });
        return status === 200 || status === 201;
      });
    }
  };
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await send(name);
  };
  await Promise.all(Array.from({ length: 6 }, work));
  assertBounded(await readLengths(app, token));
  await app.close();
  const again = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  await waitUntilPasses(async () => assertBounded(await readLengths(again, token)));
});
