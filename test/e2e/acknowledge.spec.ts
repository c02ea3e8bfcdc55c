import { hkdfSync } from 'node:crypto';
import { expect } from '@playwright/test';
import { createAcknowledgeLinks } from '../../src/features/notifications/acknowledge/links.ts';
import { secret } from '../support/credentials.ts';
import { atEnd } from '../support/scope.ts';
import { sendAlert, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { collectComplaints, findFaults } from './support/page.ts';

const destination = { name: 'phone', type: 'ntfy', url: 'http://127.0.0.1:9/topic', levels: ['INFO'] };
const settings = { publicUrl: 'https://signalbox.example.org', destinations: [destination] };

/** Creates the only incident and returns the path of the link in its notification. */
const createPath = async (app: TestApp): Promise<string> => {
  await sendAlert(app, { source: 'backup', level: 'CRITICAL', message: 'disk <b>full</b>', hostname: 'db-1' });
  let ids: string[] = [];
  await expect(async () => {
    const { data } = await (await fetch(`${app.url}/api/incidents`)).json();
    ids = data.map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(1);
  }).toPass();
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'acknowledge', 32));
  const links = createAcknowledgeLinks(
    [key],
    () => new Date(),
    () => undefined,
  );
  const token = links.createToken({ ...destination, createdAt: undefined }, ids);
  return `/api/acknowledge/${token}`;
};

for (const colorScheme of ['light', 'dark'] as const) {
  test(`a notification's link acknowledges the incident on a phone, in ${colorScheme} colours and without scripts`, async ({
    scope,
    serveApp,
    browser,
  }) => {
    const app = await serveApp({ settings });
    const path = await createPath(app);
    const viewport = { width: 360, height: 640 };
    const context = await browser.newContext({ baseURL: app.url, javaScriptEnabled: false, colorScheme, viewport });
    atEnd(scope, () => context.close());
    const page = await context.newPage();
    const complaints = collectComplaints(page);
    // A page of another origin, such as a webmail site, contains the link.
    await page.setContent(`<a href="${app.url}${path}">Acknowledge</a>`);
    await page.getByRole('link').click();
    await expect(page.getByRole('heading')).toHaveText('Acknowledge this incident?');
    await expect(page.getByRole('listitem')).toContainText('#1 disk <b>full</b>');
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await expect(page.getByRole('heading')).toHaveText('Acknowledged');
    await expect(page.getByRole('listitem')).toContainText('acknowledged by somebody via phone');
    await page.reload();
    await expect(page.getByRole('heading')).toHaveText('Already acknowledged by somebody via phone');
    expect(complaints).toEqual([]);
  });
}

test('the page of an acknowledge link is accessible in light and dark', async ({ scope, serveApp, browser }) => {
  const app = await serveApp({ settings });
  const path = await createPath(app);
  const context = await browser.newContext({ baseURL: app.url, bypassCSP: true });
  atEnd(scope, () => context.close());
  const page = await context.newPage();
  await page.goto(path);
  expect(await findFaults(page)).toEqual([]);
  await page.goto('/api/acknowledge/ack_none');
  await expect(page.getByRole('heading')).toHaveText('Nothing was acknowledged');
  expect(await findFaults(page)).toEqual([]);
});
