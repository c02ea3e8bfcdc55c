import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
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
const incidentCount = 8;
const longestLifeMs = 900;
const names = ['first', 'second', 'third'] as const;

interface Read {
  escalation: { next: object | null } | null;
  timeline: { type: string; step: number | null; round: number | null }[];
}

test('after kill -9 at any moment no step of an escalation is skipped or doubled', async (t) => {
  const { next: random } = createRandom();
  const sums = { kills: 0, messages: 0 };
  for (let left = rounds(1, 250); left > 0; left -= 1) {
    const folder = createTemporaryFolder(t);
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
    const start = async (): Promise<FaultServer> => {
      const flags = ['--config', config];
      const variables = { SIGNALBOX_JWT_SECRET: secret };
      const started = await startServer({ dataDir: join(folder, 'data'), kept, flags, variables });
      assert.ok(started, 'the server does not start');
      return started;
    };
    let server = await start();
    const token = signToken(createClaims({ role: 'Admin' }));
    const read = async (number: number): Promise<Read> => {
      const answer = await fetch(`${server.url}/api/incidents/${number}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return (await answer.json()) as Read;
    };
    for (let index = 0; index < incidentCount; index += 1) {
      const body = JSON.stringify({ key: `k${index}`, level: 'ERROR', message: `k${index}` });
      assert.equal((await fetch(`${server.url}/api/alert`, { method: 'POST', body })).status, 200);
    }
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
      const opened = receiver.requests.filter(({ body }) => readNotificationTexts(body).join().startsWith('opened'));
      return (
        new Set(opened.map(({ path, body }) => `${path} ${readNotificationTexts(body).join()}`)).size ===
        incidentCount * names.length
      );
    });
    // A message that is sent again because of a kill keeps its id.
    const ids = new Set(receiver.requests.map(({ path, headers }) => `${path} ${headers['webhook-id']}`));
    assert.ok(ids.size <= incidentCount * names.length * 2, `${ids.size} messages`);
    sums.messages += receiver.requests.length;
    await killServer(server);
  }
  t.diagnostic(`escalations, kill -9: ${sums.kills} kills, ${sums.messages} messages`);
});
