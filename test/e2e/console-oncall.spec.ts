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
  const sunday = Date.now() + ((7 - new Date().getUTCDay()) % 7) * 86_400_000;
  await form.getByLabel('Holidays').fill(new Date(sunday).toISOString().slice(0, 10));
  await form.getByRole('button', { name: 'Save' }).click();
  const calendar = page.getByRole('region', { name: 'Calendar of ops' });
  await expect(calendar.getByRole('button', { name: /^Nobody: / })).toHaveCount(4);
  await expect(calendar.getByText(/^Holidays: /)).toBeVisible();
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

test('a range drawn with the mouse, or shifts chosen with Shift and arrow keys, become one override', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ hash: '#/oncall' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'New rotation' }).click();
  const form = page.getByRole('dialog', { name: 'New rotation' });
  await form.getByLabel('Name').fill('ops');
  await form.getByLabel('Time zone').fill('UTC');
  await form.getByLabel('People').fill('admin, reader');
  await form.getByLabel('Handover every').fill('1 day');
  await form.getByLabel('At', { exact: true }).fill('09:00');
  await form.getByRole('button', { name: 'Save' }).click();
  const calendar = page.getByRole('region', { name: 'Calendar of ops' });
  const week = calendar.locator('.calendar-bars').nth(2);
  await expect(week).toBeVisible();
  const { x, y, width, height } = (await week.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width * (1 / 7), y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * (2 / 7), y + height / 2, { steps: 5 });
  await expect(calendar.locator('.drawn')).toBeVisible();
  await page.mouse.move(x + width * (3 / 7), y + height / 2, { steps: 5 });
  await page.mouse.up();
  const dialog = page.getByRole('dialog', { name: 'On call: ops' });
  await expect(dialog.getByLabel('From')).toHaveValue(/T00:00$/);
  const [from, until] = await Promise.all(
    ['From', 'Until'].map(async (label) => Date.parse(await dialog.getByLabel(label).inputValue())),
  );
  expect(Number(until) - Number(from)).toBe(2 * 86_400_000);
  expect(await findFaults(page)).toEqual([]);
  await dialog.getByLabel('Member').selectOption('reader');
  await dialog.getByRole('button', { name: 'Override' }).click();
  await expect(calendar.getByRole('button', { name: /^reader \(override\): / })).toHaveCount(1);
  const shifts = calendar.locator('.calendar-bars').nth(3).getByRole('button');
  await shifts.nth(1).focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+Enter');
  const [first, last] = await Promise.all(
    ['From', 'Until'].map(async (label) => Date.parse(await dialog.getByLabel(label).inputValue())),
  );
  expect(Number(last) - Number(first)).toBe(3 * 86_400_000);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('table', { name: 'Pages by week' }).getByRole('row')).toHaveCount(5);
  expect(complaints).toEqual([]);
});

test('a Reader swaps one of their own shifts for a shift of another person', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const layers = [{ people: ['admin', 'reader'], handover: { every: '1 day', at: '09:00' } }];
  await app.request('PUT', '/api/rotations/ops', {
    token: await app.login('admin'),
    body: { timeZone: 'UTC', layers },
  });
  const { page, complaints } = await openConsole({ app, hash: '#/oncall?page=1' });
  await logIn(page, 'reader');
  const calendar = page.getByRole('region', { name: 'Calendar of ops' });
  const own = calendar.getByRole('button', { name: /^reader: / });
  await own.nth(1).click();
  const dialog = page.getByRole('dialog', { name: 'On call: ops' });
  await expect(dialog.getByLabel('Member')).toHaveValue('admin');
  await expect(dialog.getByRole('button', { name: 'Override' })).toBeVisible();
  await dialog.getByLabel('In return').selectOption({ index: 3 });
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findFaults(page)).toEqual([]);
  }
  await dialog.getByRole('button', { name: 'Swap' }).click();
  await expect(page.getByText('Shifts swapped.')).toBeVisible();
  await expect(calendar.getByRole('button', { name: /^admin \(override\): / })).toHaveCount(1);
  await expect(calendar.getByRole('button', { name: /^reader \(override\): / })).toHaveCount(1);
  expect(complaints).toEqual([]);
});

test('a Reader sets the address of a calendar with absences, sees own pages by week, and deletes the address', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ hash: '#/oncall' });
  await logIn(page, 'reader');
  await page.getByRole('button', { name: 'Absences…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your absence calendar' });
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/a.ics');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toHaveText(/must be the https address/);
  await dialog.getByLabel('Address').fill('https://127.0.0.1:9/a.ics');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  await page.getByRole('button', { name: 'Absences…' }).click();
  await expect(dialog.getByText('https://127.0.0.1:9/***')).toBeVisible();
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findFaults(page)).toEqual([]);
  }
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(dialog).toBeHidden();
  expect(complaints).toEqual([expect.stringMatching(/404 .*absences/), expect.stringMatching(/400 .*absences/)]);
});

test('the form of a rotation does not overwrite a change that somebody else has made since the form was opened', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const token = await app.login('admin');
  const put = async (people: string[]): Promise<void> => {
    const body = { timeZone: 'UTC', layers: [{ people, handover: { every: '1 week' } }] };
    expect((await app.request('PUT', '/api/rotations/ops', { token, body })).status).toBeLessThan(300);
  };
  await put(['admin']);
  const { page, complaints } = await openConsole({ app, hash: '#/oncall' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Edit ops' }).click();
  const form = page.getByRole('dialog', { name: 'Rotation ops' });
  await form.getByLabel('Hours').fill('Mon-Fri 08:00-18:00');
  await put(['reader']);
  await expect(page.locator('.rotation-calendar .shift', { hasText: 'reader' }).first()).toBeAttached();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toHaveText(/^Somebody else has saved changes in the meantime/);
  const { json } = await app.request<{ layers: { people: string[] }[] }>('GET', '/api/rotations/ops', { token });
  expect(json.layers.map(({ people }) => people)).toEqual([['reader']]);
  expect(complaints).toEqual([expect.stringMatching(/412 .*api.rotations.ops/)]);
});
