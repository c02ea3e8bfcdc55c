import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { HeartbeatRun } from '../../../src/features/heartbeats/schema.ts';
import { secret } from '../../support/credentials.ts';
import { longTest, rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { waitUntil } from '../../support/wait.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { start } from './support/lives.ts';

const token = signToken(createClaims());
const kept: Kept = { ...alerts, flags: ['--profiles', 'incidents'] };
const jobs = 8;
const longestLifeMs = 600;

/** Number of runs that signalbox keeps. */
const mostRuns = 100;

interface Job {
  name: string;
  uuid: string;
  /** Acknowledged pings, in order. */
  acknowledged: string[];
}

test('after kill -9 at any moment each acknowledged ping is stored, in order', async (t) => {
  const options = {
    dataDir: join(createTemporaryFolder(t), 'data'),
    kept,
    variables: { SIGNALBOX_JWT_SECRET: secret },
  };
  const { next: random } = createRandom();
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

test('an acknowledged failure opens one incident, and a success resolves it, even if the server is killed after each response', async (t) => {
  const options = {
    dataDir: join(createTemporaryFolder(t), 'data'),
    kept: { ...kept, flags: ['--profiles', 'alerts,incidents'] },
    variables: { SIGNALBOX_JWT_SECRET: secret },
  };
  let uuid = '';
  const total = rounds(3, 100);
  for (let round = 1; round <= total; round += 1) {
    for (const [signal, state] of [
      ['fail', 'open'],
      ['0', 'resolved'],
    ] as const) {
      const server = await start(options);
      uuid ||= await create(server.url, 'job');
      const answer = await fetch(`${server.url}/ping/${uuid}/${signal}`);
      assert.equal(answer.status, 200);
      await killServer(server);
      await server.ended;
      const next = await start(options);
      await waitUntil(`the incident is ${state}`, async () => {
        const { data } = (await (await fetch(`${next.url}/api/incidents?state=all`)).json()) as {
          data: { state: string; alerts: number }[];
        };
        return data.length === 1 && data[0]?.state === state;
      });
      const list = await fetch(`${next.url}/api/alerts/search?limit=1000`);
      const { data } = (await list.json()) as { data: { status: string }[] };
      // No alert is raised twice, unless the server was killed before it recorded the alert.
      const firing = data.filter(({ status }) => status === 'firing').length;
      assert.ok(firing >= round && firing <= 2 * round, `${firing} alerts after ${round} failures`);
      await killServer(next);
      await next.ended;
    }
  }
});

longTest('after kill -9 a heartbeat that came due meanwhile gets one more grace', async (t) => {
  const options = {
    dataDir: join(createTemporaryFolder(t), 'data'),
    kept,
    variables: { SIGNALBOX_JWT_SECRET: secret },
  };
  const first = await start(options);
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ period: 10, grace: 4 });
  await fetch(`${first.url}/api/heartbeats/job`, { method: 'PUT', headers, body });
  assert.equal((await fetch(`${first.url}/ping/job`, { headers })).status, 200);
  await killServer(first);
  await first.ended;
  await setTimeout(16_000);
  const second = await start(options);
  const read = async (): Promise<unknown> =>
    ((await (await fetch(`${second.url}/api/heartbeats/job`)).json()) as { state: string }).state;
  const begun = performance.now();
  assert.equal(await read(), 'late');
  await waitUntil('the heartbeat is down', async () => (await read()) === 'down');
  assert.ok(performance.now() - begun > 3000);
  await killServer(second);
});

/**
 * Returns the acknowledged pings that must be stored. For a job with more runs than are kept, these are the pings from
 * the first stored run onwards.
 */
const findKept = async (url: string, { name, acknowledged }: Pick<Job, 'name' | 'acknowledged'>): Promise<string[]> => {
  const answer = await fetch(`${url}/api/heartbeats/${name}/runs`);
  const { data } = (await answer.json()) as { data: HeartbeatRun[] };
  const found = data.map(({ rid }) => rid ?? '').reverse();
  // A ping without a response may also be stored.
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

/** Sends pings until the server stops responding. */
const act = async (url: string, { uuid, acknowledged }: Job): Promise<void> => {
  for (;;) {
    const rid = randomUUID();
    const answer = await fetch(`${url}/ping/${uuid}?rid=${rid}`, { method: 'POST', body: rid }).catch(() => undefined);
    if (answer?.status !== 200) return;
    acknowledged.push(rid);
  }
};
