import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { writeConfig } from '../../support/config-file.ts';
import { secret } from '../../support/credentials.ts';
import { rounds } from '../../support/long.ts';
import { readNotificationTexts } from '../../support/notifications.ts';
import { createRandom } from '../../support/random.ts';
import { answer, startReceiver } from '../../support/receiver.ts';
import { waitUntil } from '../../support/wait.ts';
import { atEnd, createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { type FaultServer, startServer } from './support/server.ts';

const kept: Kept = { ...alerts, flags: ['--profiles', 'alerts,incidents,watches'] };
const longestLifeMs = 2500;
const dependents = ['shop', 'mail', 'wiki'];

test('after kill -9 at any moment nothing fires that depends on a failing router', async (t) => {
  const { next: random } = createRandom();
  const sums = { kills: 0, messages: 0 };
  for (let left = rounds(1, 30); left > 0; left -= 1) {
    const folder = createTemporaryFolder(t);
    const scope = { after: (step: () => unknown) => atEnd(t, step) };
    const [pager, router, site] = [await startReceiver(scope), await startReceiver(scope), await startReceiver(scope)];
    const config = writeConfig(folder, {
      defaultWatches: false,
      destinations: [{ name: 'pager', type: 'webhook', url: pager.url, notify: 'incidents', groupSeconds: 0 }],
      watches: [
        { name: 'router', type: 'http', url: router.url, every: 2 },
        ...dependents.map((name) => ({ name, type: 'http', url: site.url, every: 1, dependsOn: ['router'] })),
      ],
    });
    const start = async (): Promise<FaultServer> => {
      const flags = ['--config', config];
      const variables = { SIGNALBOX_JWT_SECRET: secret };
      const started = await startServer({ dataDir: join(folder, 'data'), kept, flags, variables });
      assert.ok(started, 'the server does not start');
      return started;
    };
    const listMessages = (): string[] => pager.requests.flatMap(({ body }) => readNotificationTexts(body));
    router.behave(answer(500));
    site.behave(answer(500));
    let server = await start();
    for (let kills = 0; kills < 5; kills += 1) {
      await setTimeout(random() * longestLifeMs);
      await killServer(server);
      sums.kills += 1;
      server = await start();
    }
    await waitUntil('the failing router is notified', () => listMessages().some((text) => text.includes('router')));
    router.behave(answer(200));
    site.behave(answer(200));
    await waitUntil('the end is notified', () => listMessages().some((text) => text.startsWith('resolved')));
    // Messages are sent in order: one that is due before the marker arrives before it.
    const body = JSON.stringify({ source: 'marker', level: 'ERROR', message: 'the marker' });
    const headers = { 'content-type': 'application/json' };
    assert.equal((await fetch(`${server.url}/api/alert`, { method: 'POST', headers, body })).status, 200);
    await waitUntil('the marker is notified', () => listMessages().some((text) => text.includes('the marker')));
    const wrong = listMessages().filter((text) => dependents.some((name) => text.includes(name)));
    assert.deepEqual(wrong, []);
    sums.messages += listMessages().length - 1;
    await killServer(server);
  }
  t.diagnostic(JSON.stringify(sums));
});
