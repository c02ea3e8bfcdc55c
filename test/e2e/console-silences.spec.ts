import { expect, type Page } from '@playwright/test';
import { sendAlert, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const create = async (app: TestApp, body: object): Promise<string> => {
  const { status, json } = await app.request('POST', '/api/silences', { token: await app.login('admin'), body });
  expect(status).toBe(201);
  return String(json['id']);
};

const table = (page: Page) => page.getByRole('table', { name: 'Silences' });

const row = (page: Page, what: string) => table(page).getByRole('row').filter({ hasText: what });

const form = (page: Page) => page.getByRole('dialog', { name: 'New silence' });

const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

test('without silences, the screen explains silences, and a Reader logs in and creates a silence with a preview', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAlert(app, { source: 'backup', hostname: 'db-1', level: 'ERROR', message: 'disk is 91 % full' });
  await sendAlert(app, { source: 'smart', hostname: 'db-1', level: 'ERROR', message: 'sdb fails' });
  const { page, complaints } = await openConsole({ app, hash: '#/silences' });
  await expect(page.getByText('No silences')).toBeVisible();
  await expect(page.getByText(/^A silence stops notifications about matching alerts and incidents/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await logIn(page, 'reader');
  await page.getByRole('button', { name: 'New silence' }).last().press('Enter');
  await expect(form(page).getByLabel('Source')).toBeFocused();
  await form(page).getByRole('button', { name: 'Silence', exact: true }).click();
  await expect(form(page).getByRole('alert')).toHaveText(
    'Fill in at least one of source, host, level, text and labels.',
  );
  expect(await findFaults(page)).toEqual([]);
  await form(page).getByLabel('Host').fill('DB-*');
  await expect(form(page).getByText(/^Matches 2 open incidents now: #/)).toBeVisible();
  await form(page).getByLabel('Source').fill('back*');
  await expect(form(page).getByText('Matches 1 open incident now: #1 disk is 91 % full')).toBeVisible();
  await form(page).getByLabel('Length').selectOption('4 h');
  await form(page).getByLabel('Reason').fill('the disk is being replaced');
  await form(page).getByLabel('Reason').press('Enter');
  await expect(page.getByRole('status').getByText(/^Silenced until .* left\.$/)).toBeVisible();
  await expect(row(page, 'source back*, host DB-*')).toHaveText(
    /In effect.*the disk is being replaced.*until .*1reader$/,
  );
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await expect(page.getByRole('table', { name: 'Incidents' }).getByText('Silenced')).toHaveCount(1);
  expect(complaints).toEqual([]);
});

test('the form for a silence keeps its input while the dialog asks for a login', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/silences/new?source=backup' });
  await form(page).getByRole('button', { name: 'Silence', exact: true }).click();
  const login = page.getByRole('dialog', { name: 'Log in' });
  await login.getByLabel('User name').fill('reader');
  await login.getByLabel('Password').fill('battery staple');
  await login.getByRole('button', { name: 'Log in' }).click();
  await expect(row(page, 'source backup')).toBeVisible();
});

test('current, upcoming, past and recurring silences are listed, and can be edited and ended', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await create(app, { match: { source: 'backup' }, endsAt: inHours(2), comment: 'replaced' });
  await create(app, { match: { source: 'deploy' }, startsAt: inHours(24), endsAt: inHours(26) });
  const weekly = { schedule: '30 2 * * 1-5', minutes: 90, timeZone: 'Asia/Tokyo' };
  await create(app, { match: { text: '*disk*', labels: { team: 'db' } }, ...weekly });
  await create(app, { match: { level: 'WARNING' }, schedule: '*/20 3 * * *', minutes: 5 });
  const { page, complaints } = await openConsole({ app, hash: '#/silences' });
  await expect(table(page).getByRole('row')).toHaveCount(5);
  await expect(row(page, 'source backup')).toHaveText(/In effect.*until .*1 h 59 min left/);
  await expect(row(page, 'source deploy')).toHaveText(/Upcoming.*from .* until /);
  await expect(row(page, 'text *disk*, label team db')).toHaveText(
    /Monday to Friday at 02:30 for 1 h 30 min \(Asia\/Tokyo\)(next|now until) /,
  );
  await expect(row(page, 'level WARNING')).toHaveText(/by the cron expression \*\/20 3 \* \* \* for 5 min/);
  await logIn(page, 'reader');
  await row(page, '*disk*').getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Silence', exact: true });
  await expect(drawer.getByText(/^by admin, /)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await drawer.getByRole('button', { name: 'Edit…' }).press('Enter');
  const edit = page.getByRole('dialog', { name: 'Edit silence' });
  await expect(edit.getByLabel('Labels')).toHaveValue('team=db');
  await expect(edit.getByLabel('At', { exact: true })).toHaveValue('02:30');
  expect(await findFaults(page)).toEqual([]);
  await edit.getByRole('button', { name: 'Mon' }).click();
  await edit.getByRole('button', { name: 'Sat' }).click();
  await edit.getByLabel('Minutes').fill('45');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, '*disk*')).toHaveText(/Tuesday to Saturday at 02:30 for 45 min/);
  await row(page, 'source backup').getByRole('link').click();
  await drawer.getByRole('button', { name: 'End now' }).click();
  await expect(drawer.getByText('Past', { exact: true })).toBeVisible();
  await drawer.getByRole('button', { name: 'Close' }).first().click();
  await expect(row(page, 'source backup')).toHaveCount(0);
  await page.getByRole('button', { name: 'Past' }).click();
  await expect(row(page, 'source backup')).toHaveText(/Past.*ended /);
  await row(page, 'source backup').getByRole('link').click();
  await drawer.getByRole('button', { name: 'Silence again…' }).click();
  await form(page).getByRole('button', { name: 'Silence', exact: true }).click();
  await page.getByRole('button', { name: 'Current' }).click();
  await expect(row(page, 'source backup')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('a schedule being typed shows its next times, or the reason why it has none', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  const { page } = await openConsole({ app, hash: '#/silences/new?source=x', timezoneId: 'UTC' });
  await logInOver(page);
  await form(page).getByRole('button', { name: 'Cron' }).click();
  await form(page).getByLabel('Cron expression').fill('30 2 * *');
  await expect(form(page).getByText(/^Next: /)).toHaveCount(0);
  await form(page).getByLabel('Time zone').fill('Asia/Kolkata');
  await form(page).getByLabel('Cron expression').fill('30 5 * * *');
  // Half past five in India is midnight in the console's time zone.
  await expect(form(page).getByText(/^Next: .*00:00; .*00:00; .*00:00$/)).toBeVisible();
  await form(page).getByLabel('Cron expression').fill('0 2 30 2 *');
  await expect(form(page).getByText('schedule 0 2 30 2 * never matches a date')).toBeVisible();
  await form(page).getByRole('button', { name: 'Weekly' }).click();
  await form(page).getByRole('button', { name: 'Sat' }).click();
  await form(page).getByLabel('At', { exact: true }).fill('05:30');
  await expect(form(page).getByText(/^Next: .*00:00; .*00:00; .*00:00$/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
});

test('a silence that somebody else has changed is not overwritten, and the refusal shows the reason', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  const id = await create(app, { match: { source: 'backup' }, endsAt: inHours(2) });
  const { page } = await openConsole({ app, hash: '#/silences/new?source=x' });
  await logInOver(page);
  await form(page).getByRole('button', { name: 'Cron' }).click();
  await form(page).getByLabel('Cron expression').fill('every day');
  await form(page).getByRole('button', { name: 'Silence', exact: true }).click();
  await expect(form(page).getByRole('alert')).toHaveText(/schedule/);
  await form(page).getByRole('button', { name: 'Until' }).click();
  await form(page).getByRole('button', { name: 'Silence', exact: true }).click();
  await expect(form(page).getByRole('alert')).toHaveText('Choose an end in the future.');
  await form(page).getByRole('button', { name: 'Cancel' }).click();
  await row(page, 'source backup').getByRole('link').click();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit silence' });
  await edit.getByLabel('Reason').fill('mine');
  await app.request('PUT', `/api/silences/${id}`, {
    token: await app.login('admin'),
    body: { match: { source: 'backup' }, endsAt: inHours(3), comment: 'theirs' },
  });
  await expect(async () => expect(await page.getByText('theirs').count()).toBe(1)).toPass();
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(edit.getByRole('alert')).toHaveText(/^Somebody else has saved changes in the meantime\./);
  await edit.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('dialog').getByText('theirs')).toBeVisible();
});

/** Closes the dialog, because it covers the login button, then logs in and opens the form again. */
const logInOver = async (page: Page): Promise<void> => {
  await page.keyboard.press('Escape');
  await logIn(page, 'reader');
  await page.evaluate("location.hash = '#/silences/new?source=x'");
};

test('incidents and alerts fill in the form, which returns to them, and an incident links to its silence', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAlert(app, { source: 'backup', hostname: 'db-1', level: 'ERROR', message: 'disk is 91 % full' });
  const soon = await create(app, { match: { hostname: 'db-*' }, startsAt: inHours(1), endsAt: inHours(2) });
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'reader');
  await page.getByRole('table', { name: 'Incidents' }).getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  await expect(drawer.getByText(/^Will be silenced: host db-\*/)).toBeVisible();
  await drawer.getByRole('link', { name: 'Silence similar alerts' }).press('Enter');
  for (const [label, value] of [
    ['Source', 'backup'],
    ['Host', 'db-1'],
    ['Text of the alert', 'disk is * % full'],
  ] as const)
    await expect(form(page).getByLabel(label)).toHaveValue(value);
  await form(page).getByRole('button', { name: 'Silence', exact: true }).press('Enter');
  await expect(page).toHaveURL(/#\/incidents\/1$/);
  const silencedBy = drawer.getByRole('listitem').filter({ hasText: /^Silenced: / });
  await expect(silencedBy.getByRole('link', { name: 'source backup, host db-1, text disk is * % full' })).toBeVisible();
  await expect(drawer.getByText('Silenced', { exact: true }).first()).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await silencedBy.getByRole('link').click();
  await expect(page.getByRole('link', { name: '#1 disk is 91 % full' })).toBeVisible();
  await page.goto('/console/#/alerts');
  await page.getByRole('link', { name: 'disk is 91 % full' }).click();
  const alert = page.getByRole('dialog', { name: 'Alert' });
  await alert.getByRole('link', { name: 'Silence similar alerts' }).click();
  await expect(form(page).getByLabel('Text of the alert')).toHaveValue('disk is * % full');
  await page.keyboard.press('Escape');
  await expect(alert).toBeVisible();
  expect(soon).toBeTruthy();
  expect(complaints).toEqual([]);
});
