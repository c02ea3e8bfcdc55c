import { expect } from '@playwright/test';
import { waitForCheck } from '../availability/support/availability.ts';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { test } from './support/console.ts';
import { allViews, findFaults, logIn } from './support/page.ts';

test('the report of a month lists all checks with their percentages and outages, and can be printed', async ({
  serveApp,
  openConsole,
}) => {
  const watches = [{ name: 'memory', type: 'memory', limit: 99 }];
  const app = await serveApp({ settings: { timeZone: 'UTC', watches } });
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'backup');
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/backup', 'up');
  await ping(app.url, `${uuid}/3`);
  await waitForCheck(app, token, 'heartbeats/backup', 'down');
  const { page, complaints } = await openConsole({ app, hash: '#/availability' });
  await logIn(page, 'reader');
  const month = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric' }).format(new Date());
  await expect(page.getByRole('heading', { name: month })).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'backup' })).toContainText('%');
  // Only logged-in users can read watches.
  await expect(page.getByRole('row').filter({ hasText: 'memory' })).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'backup' })).toContainText('until now');
  expect(await findFaults(page, allViews)).toEqual([]);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('navigation')).toBeHidden();
  await page.setViewportSize({ width: 717, height: 1000 });
  await expect(page.getByRole('columnheader', { name: 'Unknown' })).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'backup' })).toBeVisible();
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('main').getByRole('button').first().click();
  await expect(page).toHaveURL(/month=20\d\d-\d\d/);
  await expect(page.getByRole('row').filter({ hasText: 'backup' })).toContainText('Not checked yet');
  expect(complaints).toEqual([]);
});
