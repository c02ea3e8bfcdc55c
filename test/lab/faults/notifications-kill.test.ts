import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { writeConfig } from '../../support/config-file.ts';
import { secret } from '../../support/credentials.ts';
import { rounds } from '../../support/long.ts';
import { readNotificationTexts } from '../../support/notifications.ts';
import { createRandom } from '../../support/random.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { waitUntil } from '../../support/wait.ts';
import { atEnd, createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { type FaultServer, startServer } from './support/server.ts';

const kept: Kept = { ...alerts, flags: ['--profiles', 'alerts,incidents'] };

const incidentCount = 12;
const longestLifeMs = 700;

/** Durations in settings, in minutes, that are short enough to pass during a test. */
const afterMinutes = 0.02;
const repeatMinutes = 0.03;

interface Read {
  state: string;
  timeline: { type: string }[];
  notifications: { last: unknown; next: { waitsFor: string } | null }[];
}

test('after kill -9 at any moment everyone gets the necessary notifications, also those of timers, and nobody else does', async (t) => {
  const { next: random } = createRandom();
  const total = rounds(2, 60);
  const sums = { count: 0, repeated: 0, unneeded: 0, kills: 0 };
  for (let round = 0; round < total; round += 1) {
    const { count, repeated, unneeded, kills } = await runRound(t, random);
    sums.count += count;
    sums.repeated += repeated;
    sums.unneeded += unneeded;
    sums.kills += kills;
  }
  t.diagnostic(
    `notifications, kill -9: ${total} rounds, ${sums.kills} kills, ${sums.count} notifications, ${sums.repeated} of them twice, ${sums.unneeded} resolutions without an opening`,
  );
});

const runRound = async (t: TestContext, random: () => number) => {
  const folder = createTemporaryFolder(t);
  const scope = { after: (step: () => unknown) => atEnd(t, step) };
  const names = ['first', 'second', 'grouped'] as const;
  const receivers = await Promise.all(
    names.map(() =>
      startReceiver(scope, (response) => {
        const chance = random();
        if (chance < 0.1) response.writeHead(500).end();
        else if (chance < 0.2) response.destroy();
        else response.end();
      }),
    ),
  );
  const toEntry = (index: number, keys: object) => ({
    name: names[index],
    type: 'webhook',
    url: `${receivers[index]?.url}/`,
    notify: 'incidents',
    ...keys,
  });
  const config = writeConfig(folder, {
    destinations: [
      toEntry(0, { groupSeconds: 0, repeat: repeatMinutes }),
      toEntry(1, { groupSeconds: 0, after: afterMinutes }),
      toEntry(2, { groupSeconds: 0.3 }),
    ],
  });
  const dataDir = join(folder, 'data');
  const start = async (): Promise<FaultServer> => {
    const server = await startServer({
      dataDir,
      kept,
      flags: ['--config', config],
      variables: { SIGNALBOX_JWT_SECRET: secret },
    });
    assert.ok(server, 'the server does not start');
    return server;
  };
  let kills = 0;
  const stored = new Set<string>();
  for (let life = 0; life < 6; life += 1) {
    const server = await start();
    const until = performance.now() + random() * longestLifeMs + 50;
    const load = (async () => {
      while (performance.now() < until) {
        const left = Array.from({ length: incidentCount }, (_, index) => `k${index}`).filter((key) => !stored.has(key));
        const [key] = left;
        if (key) {
          const answer = await ask(server, '/api/alert', { key, level: 'ERROR', message: key });
          if (answer?.status === 200) stored.add(key);
        }
        const number = 1 + Math.floor(random() * stored.size);
        const chance = random();
        const action = chance < 0.1 ? 'acknowledge' : chance < 0.2 ? 'resolve' : undefined;
        // A repeated alert could reopen a resolved incident.
        if (action && !key && number % 3 !== 0) await ask(server, `/api/incidents/${number}/${action}`, {});
        await setTimeout(20);
      }
    })();
    await setTimeout(until - performance.now());
    await killServer(server);
    await load;
    kills += 1;
  }
  for (const receiver of receivers) receiver.behave((response) => void response.end());
  const server = await start();
  const read = async (number: number): Promise<Read> =>
    (await ask(server, `/api/incidents/${number}`))?.json as unknown as Read;
  const numbers = Array.from({ length: stored.size }, (_, index) => index + 1);
  await waitUntil('only reminders are left to send', async () => {
    const all = await Promise.all(numbers.map(read));
    return all.every(({ state, notifications }) =>
      state === 'resolved'
        ? notifications.length === 0
        : notifications.every(({ next }) => next === null || next.waitsFor === 'repeat'),
    );
  });
  const incidents = await Promise.all(numbers.map(read));
  await killServer(server);
  const messages = receivers.map(({ requests }) => requests.flatMap(({ body }) => readNotificationTexts(body)));
  let count = 0;
  let repeated = 0;
  let unneeded = 0;
  for (const [index, { state }] of incidents.entries()) {
    const number = index + 1;
    for (const [place, all] of messages.entries()) {
      const types = all.filter((one) => one.includes(`#${number} `)).map((one) => one.split(' ')[0]);
      count += types.length;
      repeated += types.filter((one, at) => one !== 'reminder' && types.indexOf(one) < at).length;
      // A server killed before the first message cannot know that the message was not sent.
      const isUnneeded = types.every((one) => one === 'resolved');
      if (isUnneeded) unneeded += types.length;
      else assert.equal(types[0], 'opened', `${number} at ${names[place]}: ${types.join(' ')}`);
      if (state === 'resolved' && types.length > 0) assert.equal(types.at(-1), 'resolved', types.join(' '));
      if (state === 'open') assert.ok(types.includes('opened') && !types.includes('resolved'), types.join(' '));
    }
  }
  for (const receiver of receivers) await receiver.close();
  return { count, repeated, unneeded, kills };
};

const token = signToken(createClaims());

const ask = async ({ url }: FaultServer, path: string, body?: object) => {
  const answer = await fetch(`${url}${path}`, {
    method: body ? 'POST' : 'GET',
    ...(body && { body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}` },
  }).catch(() => undefined);
  const json = (await answer?.json().catch(() => undefined)) as Record<string, unknown> | undefined;
  return answer && json && { status: answer.status, json };
};
