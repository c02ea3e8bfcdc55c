import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sendAlert } from '../../../test/support/alerts.ts';
import { startApp } from '../../../test/support/app.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { readState, toDestination } from '../../../test/support/outbox.ts';
import { answer, startReceiver } from '../../../test/support/receiver.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import type { Feature, FeatureInstance } from '../../kit/feature.ts';
import { openJournal } from '../../storage/journal/journal.ts';
import { features } from '../index.ts';
import { notifications } from './index.ts';

test('failing destinations, alerts with a long wait and given-up alerts are counted as concerns', async (t) => {
  const [refusing, gone, good] = [
    await startReceiver(t, answer(404)),
    await startReceiver(t, answer(422)),
    await startReceiver(t),
  ];
  const directory = join(createFolder(t), 'data');
  const journal = await openJournal({ directory, name: 'alerts', report: () => undefined });
  await journal.append({ time: '2026-01-31T09:30:00+01:00', level: 'ERROR', message: 'old' });
  await journal.close();
  let instance: FeatureInstance | undefined;
  const kept: Feature = {
    ...notifications,
    create: async (parts) => {
      instance = await notifications.create(parts);
      return instance;
    },
  };
  const app = await startApp(t, {
    features: features.map((feature) => (feature === notifications ? kept : feature)),
    settings: {
      dataDir: directory,
      destinations: [
        toDestination(refusing, { name: 'refusing', startAt: 'oldest', giveUpHours: 720 }),
        toDestination(gone, { name: 'gone', levels: ['INFO'] }),
        toDestination(good),
      ],
    },
  });
  await waitUntil('the destination is failing', async () => (await readState(app, 'refusing')).state === 'failing');
  const read = () => instance?.findConcerns?.().filter(({ area }) => area === 'deliveries');
  assert.deepEqual(read(), [
    { area: 'deliveries', severity: 'ERROR', text: '1 destination is failing' },
    { area: 'deliveries', severity: 'WARNING', text: '1 alert has been waiting for delivery for over 5 minutes' },
  ]);
  for (const message of ['1', '2']) await sendAlert(app, { level: 'INFO', message });
  await waitUntil('both alerts are given up', async () => (await readState(app, 'gone')).parked === 2);
  refusing.behave(answer(200));
  await waitUntil('the destination works', async () => (await readState(app, 'refusing')).state === 'idle');
  assert.deepEqual(read(), [
    { area: 'deliveries', severity: 'WARNING', text: '2 alerts were given up after failed deliveries' },
  ]);
});
