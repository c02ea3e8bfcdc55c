import { expect } from '@playwright/test';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

test('an Admin creates a rotation, sees four weeks with gaps, moves by keys, overrides a shift and subscribes', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ hash: '#/oncall' });
  await expect(page.getByText('No rotations')).toBeVisible();
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'New rotation' }).click();
  const form = page.getByRole('dialog', { name: 'New rotation' });
  await form.getByLabel('Name').fill('ops');
  await form.getByLabel('Time zone').fill('UTC');
  await form.getByLabel('People').fill('admin, zed');
  await form.getByLabel('Hours').fill('Mon-Fri 00:00-24:00');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toHaveText(/There is no user "zed"/);
  expect(await findFaults(page)).toEqual([]);
  await form.getByLabel('People').fill('admin, reader until 2059-01-01');
  await form.getByRole('button', { name: 'Save' }).click();
  const calendar = page.getByRole('region', { name: 'Calendar of ops' });
  await expect(calendar.getByRole('button', { name: /^Nobody: / })).toHaveCount(4);
  await expect(calendar.getByRole('button', { name: /^reader: / }).first()).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  const shifts = calendar.getByRole('button');
  await shifts.first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(shifts.nth(1)).toBeFocused();
  await page.keyboard.press('PageDown');
  await expect(page).toHaveURL(/page=1/);
  await calendar
    .getByRole('button', { name: /^Nobody: / })
    .first()
    .click();
  const override = page.getByRole('dialog', { name: 'On call: ops' });
  await override.getByLabel('Member').selectOption('reader');
  await override.getByRole('button', { name: 'Override' }).click();
  await expect(calendar.getByRole('button', { name: /^reader \(override\): / })).toHaveCount(1);
  await page.getByRole('button', { name: 'Calendar address: ops' }).click();
  const addresses = page.getByRole('dialog', { name: 'Calendar address: ops' });
  await addresses.getByRole('button', { name: 'Create an address' }).click();
  await expect(addresses.getByText(/\/oncall\/[\w-]{43}\.ics$/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await addresses.getByRole('button', { name: 'Revoke' }).click();
  await expect(addresses.getByRole('listitem')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 360, height: 800 });
  await expect(calendar.getByRole('listitem').first()).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  // Refusal of an unknown user.
  expect(complaints).toEqual([expect.stringMatching(/400 .*api.rotations.ops/)]);
});
