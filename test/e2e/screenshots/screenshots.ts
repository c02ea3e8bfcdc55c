import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, type Page } from '@playwright/test';
import { answer, startReceiver } from '../../support/receiver.ts';
import type { TestApp } from '../support/app.ts';
import { test } from '../support/console.ts';
import { logIn } from '../support/page.ts';
import {
  addAlert,
  addFirstAlerts,
  addHeartbeats,
  addSilences,
  addTasks,
  addWatches,
  runCommands,
  takeIncidents,
} from './sample-data.ts';

const folder = join(import.meta.dirname, '../../../docs/screenshots');
const mostBytes = 200_000;

/** Seconds for which the server runs before the screenshots, so that its charts show real readings. */
const lifetime = 155;

const runCommand = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('table', { name: 'Result' }).waitFor();
};

/** Opens an incident. Call it after the login, because the incident covers the login button. */
const openIncident = async (page: Page): Promise<void> => {
  await page.evaluate(() => {
    location.hash = '#/incidents/1';
  });
};

const openHeartbeat = async (page: Page): Promise<void> => {
  await page.evaluate(() => {
    location.hash = '#/heartbeats/db-backup';
  });
};

interface Shot {
  name: string;
  hash: string;
  colorScheme?: 'light' | 'dark';
  act?: (page: Page) => Promise<void>;
}

const shots: Shot[] = [
  { name: 'overview', hash: '#/' },
  { name: 'overview-dark', hash: '#/', colorScheme: 'dark' },
  { name: 'incidents', hash: '#/incidents' },
  { name: 'incident', hash: '#/incidents', act: openIncident },
  { name: 'tasks', hash: '#/tasks?view=board' },
  { name: 'watches', hash: '#/watches' },
  { name: 'heartbeats', hash: '#/heartbeats' },
  { name: 'heartbeat', hash: '#/heartbeats', act: openHeartbeat },
  { name: 'silences', hash: '#/silences' },
  { name: 'notifications', hash: '#/notifications' },
  { name: 'alerts', hash: '#/alerts?range=1h', colorScheme: 'dark' },
  { name: 'commands', hash: '#/commands/Get-Process', act: runCommand },
];

/** Sends an alert every second, sometimes more, and keeps a processor busy. */
const live = async ({ request }: TestApp): Promise<void> => {
  const begun = performance.now();
  for (let step = 0; performance.now() < begun + lifetime * 1000; step += 1) {
    const wave = Math.max(0.2, 1 + Math.sin(step / 9) + Math.sin(step / 23));
    for (let count = 0; count < wave; count += 1) await addAlert(request, step * 3 + count);
    for (const until = performance.now() + 150 * wave; performance.now() < until; );
    await setTimeout(1000 - 150 * wave);
  }
};

test('screenshots for the documents are created', async ({ scope, startPublished, openConsole }) => {
  const { url } = await startReceiver(scope, answer(204));
  const phone = (name: string, more: object) => ({ name, type: 'webhook', url, notify: 'incidents', ...more });
  const destinations = [
    phone('ada-phone', { repeat: 15 }),
    phone('ben-phone', { repeat: 15 }),
    phone('everybody', { after: 30, levels: ['CRITICAL'] }),
    { name: 'chat', type: 'webhook', url },
  ];
  const members = ['ada-phone', 'ben-phone'];
  const rotations = [{ name: 'ops', members, handover: '0 9 * * 1', timeZone: 'Europe/Berlin' }];
  const app = await startPublished({
    settings: { destinations, rotations, watchTargets: ['127.0.0.1'] },
    variables: { SIGNALBOX_DEFAULT_WATCHES: 'true' },
    preload: join(import.meta.dirname, 'fast-clock.mjs'),
  });
  const headers = { authorization: `Bearer ${await app.login('admin')}` };
  await addTasks(app.request, headers);
  await runCommands(app.request, headers);
  await addSilences(app.request, headers);
  await addFirstAlerts(app.request);
  await addWatches(app, headers);
  await addHeartbeats(app.request, headers);
  await live(app);
  // Another user acknowledges the incidents, so that the console offers to take over.
  await takeIncidents(app.request, { authorization: `Bearer ${await app.login('reader')}` });
  for (const shot of shots) {
    const { name, hash, colorScheme = 'light', act } = shot;
    const viewport = { width: 1440, height: 900 };
    const { page } = await openConsole({ app, hash, viewport, colorScheme, reducedMotion: 'reduce' });
    await logIn(page, 'admin');
    await act?.(page);
    await page.mouse.move(0, 0);
    // Waits for charts, events and the second reading of processes.
    await page.getByText('Live', { exact: true }).waitFor();
    await setTimeout(5000);
    const picture = await page.screenshot({ path: join(folder, `${name}.png`) });
    expect(picture.length, name).toBeLessThan(mostBytes);
    await page.close();
  }
});
