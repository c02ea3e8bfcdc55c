import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { writeConfig } from '../../support/config-file.ts';
import { secret } from '../../support/credentials.ts';
import { rounds } from '../../support/long.ts';
import { readNotificationTexts } from '../../support/notifications.ts';
import { createRandom } from '../../support/random.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { waitUntil } from '../../support/wait.ts';
import { atEnd, createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { requires } from './support/requirements.ts';
import { type FaultServer, startServer } from './support/server.ts';
import { createTracing } from './support/strace.ts';

const kept: Kept = { ...alerts, flags: ['--profiles', 'alerts,incidents'] };
const incidentCount = 8;
const longestLifeMs = 900;
const names = ['first', 'second', 'third'] as const;
/** Most rounds at the same time. Kills of one round happen while servers of other rounds start. */
const mostAtOnce = 3;
/** Duration of a slow sync. Longer than the rest of a start. */
const slowSyncMs = 2000;

interface Read {
  escalation: { next: object | null } | null;
  timeline: { type: string; step: number | null; round: number | null }[];
}

interface Round {
  dataDir: string;
  receiver: Receiver;
  /** Starts the server. Default options: the secret of its tokens. */
  start(options?: { wrapper?: string[] }): Promise<FaultServer>;
}

/** Prepares a data directory, and a config file with a policy of one step per destination. */
const prepare = async (t: TestContext): Promise<Round> => {
  const folder = createTemporaryFolder(t);
  const dataDir = join(folder, 'data');
  const receiver = await startReceiver({ after: (step: () => unknown) => atEnd(t, step) });
  const destinations = names.map((name) => {
    return { name, type: 'webhook', url: `${receiver.url}/${name}`, notify: 'incidents', groupSeconds: 0 };
  });
  const steps = names.map((name) => ({ notify: [`destination:${name}`], wait: '1 second' }));
  const config = writeConfig(folder, {
    destinations,
    escalationPolicies: [{ name: 'ops', steps, repeat: 1 }],
    escalationRouting: { rules: [], default: 'ops' },
  });
  const start = async (options: object = { variables: { SIGNALBOX_JWT_SECRET: secret } }): Promise<FaultServer> => {
    const server = await startServer({ dataDir, kept, flags: ['--config', config], ...options });
    assert.ok(server, 'the server does not start');
    return server;
  };
  return { dataDir, receiver, start };
};

const fire = async ({ url }: FaultServer, key: string): Promise<void> => {
  const body = JSON.stringify({ key, level: 'ERROR', message: key });
  assert.equal((await fetch(`${url}/api/alert`, { method: 'POST', body })).status, 200);
};

const listNotifications = ({ requests }: Receiver): string[] =>
  requests.map(({ path, body }) => `${path} ${readNotificationTexts(body).join()}`);

test('after kill -9 at any moment no step of an escalation is skipped or doubled', async (t) => {
  const { next: random } = createRandom();
  const token = signToken(createClaims({ role: 'Admin' }));
  const sums = { kills: 0, messages: 0 };
  const runRound = async (): Promise<void> => {
    const { receiver, start } = await prepare(t);
    let server = await start();
    const read = async (number: number): Promise<Read> => {
      const answer = await fetch(`${server.url}/api/incidents/${number}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return (await answer.json()) as Read;
    };
    for (let index = 0; index < incidentCount; index += 1) await fire(server, `k${index}`);
    for (let kills = 0; kills < 4; kills += 1) {
      await setTimeout(100 + random() * longestLifeMs);
      await killServer(server);
      sums.kills += 1;
      server = await start();
    }
    await waitUntil('all steps are taken', async () => {
      const all = await Promise.all(Array.from({ length: incidentCount }, (_, index) => read(index + 1)));
      return all.every(({ escalation }) => escalation?.next === null);
    });
    for (let number = 1; number <= incidentCount; number += 1) {
      const { timeline } = await read(number);
      const taken = timeline.flatMap(({ type, round, step }) => (type === 'addressed' ? [`${round}.${step}`] : []));
      assert.deepEqual(taken, ['1.1', '1.2', '1.3', '2.1', '2.2', '2.3']);
    }
    await waitUntil('every destination has every opening', () => {
      const opened = listNotifications(receiver).filter((each) => each.includes(' opened'));
      return new Set(opened).size === incidentCount * names.length;
    });
    // A message that is sent again because of a kill keeps its id.
    const ids = new Set(receiver.requests.map(({ path, headers }) => `${path} ${headers['webhook-id']}`));
    assert.ok(ids.size <= incidentCount * names.length * 2, `${ids.size} messages`);
    sums.messages += receiver.requests.length;
    await killServer(server);
  };
  let left = rounds(1, 250);
  const runRounds = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await runRound();
    }
  };
  await Promise.all(Array.from({ length: Math.min(left, mostAtOnce) }, runRounds));
  t.diagnostic(`escalations, kill -9: ${sums.kills} kills, ${sums.messages} messages`);
});

test('a first alert that got 200 escalates after kill -9, even if the disk is slow', {
  ...requires({ programs: ['strace'] }),
}, async (t) => {
  const { dataDir, receiver, start } = await prepare(t);
  const { wrapper } = createTracing({
    calls: ['fdatasync'],
    injections: [`fdatasync:delay_enter=${slowSyncMs * 1000}`],
    paths: ['alerts.incidents.state.new', 'settings.jsonl'].map((name) => join(dataDir, name)),
    output: '/dev/null',
  });
  const first = await start({ wrapper });
  await fire(first, 'k');
  await killServer(first);
  const second = await start();
  await waitUntil('every destination has the opening', () =>
    names.every((name) => listNotifications(receiver).includes(`/${name} opened #1 k`)),
  );
  await killServer(second);
});
