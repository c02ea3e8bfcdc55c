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

/** How many runs are kept. */
const mostRuns = 100;

interface Job {
  name: string;
  uuid: string;
  /** What was answered, in order. */
  acknowledged: string[];
}

test('after kill -9 at any moment each ping that was answered is there, in its order', async (t) => {
  const options = {
    ...{ dataDir: join(createTemporaryFolder(t), 'data'), kept },
    variables: { SIGNALBOX_JWT_SECRET: secret },
  };
  const random = createRandom(t);
  const sent: Job[] = Array.from({ length: jobs }, (_, job) => ({
    name: `job-${job}`,
    uuid: '',
    acknowledged: [],
  }));
  const total = rounds(4, 200);
  const checked = new Set<string>();
  for (let round = 0; round <= total; round += 1) {
    const server = await start(options);
    for (const job of sent) {
      job.uuid ||= await create(server.url, job.name);
      for (const rid of await findKept(server.url, job)) checked.add(rid);
    }
    const done = round < total ? Promise.all(sent.map((job) => act(server.url, job))) : undefined;
    await setTimeout(random() * longestLifeMs);
    await killServer(server);
    await server.ended;
    await done;
  }
  t.diagnostic(`heartbeats, kill -9: ${total} lives, ${checked.size} pings looked for, none lost`);
  assert.ok(checked.size > total);
});

/** The pings that were answered and must be there: of a job with more runs than are kept, those from the first that is. */
const findKept = async (url: string, { name, acknowledged }: Pick<Job, 'name' | 'acknowledged'>): Promise<string[]> => {
  const answer = await fetch(`${url}/api/heartbeats/${name}/runs`);
  const { data } = (await answer.json()) as { data: HeartbeatRunShape[] };
  const found = data.map(({ rid }) => rid ?? '').reverse();
  // One that was not answered may be there, too.
  const known = found.filter((rid) => acknowledged.includes(rid));
  const expected = found.length < mostRuns ? acknowledged : acknowledged.slice(acknowledged.indexOf(known[0] ?? ''));
  assert.deepEqual(known, expected);
  return known;
};

const create = async (url: string, name: string): Promise<string> => {
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ period: 3600 });
  const answer = await fetch(`${url}/api/heartbeats/${name}`, { method: 'PUT', headers, body });
  return ((await answer.json()) as { uuid: string }).uuid;
};

/** Pings until the server does not answer. */
const act = async (url: string, { uuid, acknowledged }: Job): Promise<void> => {
  for (;;) {
    const rid = randomUUID();
    const answer = await fetch(`${url}/ping/${uuid}?rid=${rid}`, { method: 'POST', body: rid }).catch(() => undefined);
    if (answer?.status !== 200) return;
    acknowledged.push(rid);
  }
};
