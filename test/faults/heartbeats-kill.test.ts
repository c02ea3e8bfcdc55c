import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { HeartbeatRunShape } from '../../src/profiles/heartbeats/schema.ts';
import { secret } from '../support/credentials.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { start } from './support/lives.ts';
import { createRandom } from './support/random.ts';
import { rounds } from './support/rounds.ts';

const token = signToken(createClaims());
const kept: Kept = { ...alerts, flags: ['--profiles', 'incidents'] };
const jobs = 8;
const longestLifeMs = 600;

test('after kill -9 at any moment each ping that was answered is there, in its order', async (t) => {
  const options = {
    ...{ dataDir: join(createTemporaryFolder(t), 'data'), kept },
    variables: { SIGNALBOX_JWT_SECRET: secret },
  };
  const random = createRandom(t);
  const sent = Array.from({ length: jobs }, (_, job) => ({
    name: `job-${job}`,
    uuid: '',
    acknowledged: [] as string[],
  }));
  const total = rounds(4, 200);
  for (let round = 0; round < total; round += 1) {
    const server = await start(options);
    for (const job of sent) job.uuid ||= await create(server.url, job.name);
    const done = Promise.all(sent.map((job) => act(server.url, job)));
    await setTimeout(random() * longestLifeMs);
    await killServer(server);
    await server.ended;
    await done;
  }
  const server = await start(options);
  let count = 0;
  for (const { name, acknowledged } of sent) {
    const answer = await fetch(`${server.url}/api/heartbeats/${name}/runs`);
    const { data } = (await answer.json()) as { data: HeartbeatRunShape[] };
    const found = data.map(({ rid }) => rid).reverse();
    // One that was not answered may be there, too.
    const expected = acknowledged.slice(-(found.length - total));
    assert.deepEqual(
      found.filter((rid) => expected.includes(rid ?? '')),
      expected,
    );
    count += acknowledged.length;
  }
  await killServer(server);
  await server.ended;
  t.diagnostic(`heartbeats, kill -9: ${total} lives, ${count} pings, none lost`);
  assert.ok(count > total);
});

const create = async (url: string, name: string): Promise<string> => {
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ period: 3600 });
  const answer = await fetch(`${url}/api/heartbeats/${name}`, { method: 'PUT', headers, body });
  return ((await answer.json()) as { uuid: string }).uuid;
};

/** Pings until the server does not answer. */
const act = async (url: string, { uuid, acknowledged }: { uuid: string; acknowledged: string[] }): Promise<void> => {
  for (;;) {
    const rid = randomUUID();
    const answer = await fetch(`${url}/ping/${uuid}?rid=${rid}`, { method: 'POST', body: rid }).catch(() => undefined);
    if (answer?.status !== 200) return;
    acknowledged.push(rid);
  }
};
