import { expect, type Page } from '@playwright/test';
import { putPage } from '../status-pages/support/pages.ts';
import { startCalendar, toCalendar, toStamp } from '../support/absence-calendar.ts';
import { startReceiver } from '../support/receiver.ts';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });

test('a Reader adds a contact method, tests it, and confirms it with the code from the test', async ({
  scope,
  openConsole,
}) => {
  const { url, requests } = await startReceiver(scope);
  const { page, complaints } = await openConsole({ hash: '#/settings/ways' });
  await logIn(page, 'reader');
  await page.getByRole('button', { name: 'New contact method' }).click();
  const form = dialog(page, 'New contact method');
  await form.getByLabel('Type').selectOption('Webhook');
  await form.getByLabel('Name').fill('phone');
  await form.getByLabel('Address').fill(`${url}/phone`);
  await form.getByLabel('Delay').fill('5 minutes');
  expect(await findFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Create' }).click();
  const details = dialog(page, 'Contact method phone');
  await expect(page.getByRole('row').filter({ hasText: 'phone' })).toContainText('Not confirmed');
  await details.getByRole('button', { name: 'Send a test' }).click();
  await expect(details.getByText('The receiver accepted the test. Enter the code in the message.')).toBeVisible();
  const [, code = ''] = /code (\d{6})/.exec(requests.at(-1)?.body ?? '') ?? [];
  await details.getByLabel('Code').fill(code === '111111' ? '222222' : '111111');
  await details.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText(/code does not match any test/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await details.getByLabel('Code').fill(code);
  await details.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('Confirmed: phone')).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'phone' })).not.toContainText('Not confirmed');
  expect(complaints).toEqual([expect.stringMatching(/400 .*confirm/)]);
});

test('an Admin creates a policy and a routing rule, and an incident shows the next step and takes it early', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const { url, requests } = await startReceiver(scope);
  const app = await serveApp();
  for (const name of ['admin', 'reader'] as const) {
    const body = { type: 'webhook', url: `${url}/${name}`, groupSeconds: 0 };
    const token = await app.login(name);
    expect((await app.request('PUT', '/api/people/me/ways/phone', { token, body })).status).toBe(201);
  }
  const { page, complaints } = await openConsole({ app, hash: '#/settings/policies' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'New policy' }).click();
  const form = dialog(page, 'New policy');
  await form.getByLabel('Name').fill('ops');
  await form.getByRole('button', { name: 'Add step' }).click();
  const step = (number: number) => form.getByRole('group', { name: `Step ${number}` });
  await step(1).getByLabel('Notify').fill('person:reader');
  await step(1).getByLabel('Wait').fill('7 minutes');
  await step(2).getByLabel('Notify').fill('person:admin');
  expect(await findFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(dialog(page, 'Escalation policy ops')).toContainText('person:reader · then wait 7 minutes');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit routing…' }).click();
  const routing = dialog(page, 'Routing');
  await routing.getByRole('button', { name: 'Add rule' }).click();
  const rule = routing.getByRole('group', { name: 'Rule 1' });
  await rule.getByLabel('Source').fill('backup*');
  await rule.getByLabel('Policy').selectOption('ops');
  expect(await findFaults(page)).toEqual([]);
  await routing.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'backup* → ops' })).toBeVisible();
  await sendAlert(app, { level: 'ERROR', source: 'backup-1', message: 'the backup has failed' });
  await page.goto('/console/#/incidents/1');
  const incident = dialog(page, 'Incident');
  await expect(incident.getByText('Step 1 of 2 of policy ops')).toBeVisible();
  await expect(incident.getByText(/^In [67] min\b.*: admin$/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await incident.getByRole('button', { name: 'Escalate now' }).click();
  await expect(page.getByText('Escalated to admin.')).toBeVisible();
  await expect(incident.getByText('Step 2 of 2 of policy ops')).toBeVisible();
  await expect.poll(() => requests.map(({ path }) => path)).toEqual(['/reader', '/admin']);
  expect(complaints).toEqual([]);
});

test('a Reader takes over an incident, adds a responder, and filters the incidents by Mine', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  for (const source of ['disk', 'backup'])
    await sendAlert(app, { level: 'ERROR', source, message: `${source} failed` });
  const token = await app.login('admin');
  const { json } = await app.request('GET', '/api/incidents/1', { token });
  expect((await app.request('POST', `/api/incidents/${json['id']}/acknowledge`, { token })).status).toBe(200);
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'reader');
  await page.goto('/console/#/incidents/1');
  const incident = dialog(page, 'Incident');
  await expect(incident.getByRole('paragraph').getByText('Acknowledged by admin')).toBeVisible();
  await incident.getByRole('button', { name: 'Take over' }).click();
  await expect(incident.getByRole('paragraph').getByText('Acknowledged by reader')).toBeVisible();
  await expect(incident.getByRole('button', { name: 'Take over' })).toHaveCount(0);
  await incident.getByRole('button', { name: 'Add responder…' }).click();
  const form = page.getByRole('dialog', { name: /^Add a responder: / });
  await form.getByLabel('Person').selectOption('admin');
  await form.getByLabel('Comment').fill('please look at the disk');
  expect(await findFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Add responder' }).click();
  await expect(page.getByText('Asked admin to help.')).toBeVisible();
  await expect(incident.getByText('please look at the disk')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(incident).toHaveCount(0);
  const rows = page.getByRole('table', { name: 'Incidents' }).getByRole('link', { name: / failed$/ });
  await expect(rows).toHaveCount(2);
  await page.getByRole('button', { name: 'Mine' }).click();
  await expect(rows).toHaveText(['#1 disk failed']);
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a Reader on call snoozes an incident until the end of the shift', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const token = await app.login('admin');
  const until = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 7_200_000).toISOString();
  const layers = [{ people: ['reader'], handover: { every: '1 week' }, until }];
  expect((await app.request('PUT', '/api/rotations/ops', { token, body: { layers } })).status).toBe(201);
  await sendAlert(app, { level: 'ERROR', source: 'disk', message: 'disk failed' });
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'reader');
  await page.goto('/console/#/incidents/1');
  await dialog(page, 'Incident').getByRole('button', { name: 'Snooze' }).click();
  await page.getByRole('button', { name: /^Until my shift ends, / }).click();
  await expect(dialog(page, 'Incident').getByRole('paragraph').getByText('Acknowledged by reader')).toBeVisible();
  expect((await app.request('GET', '/api/incidents/1')).json['acknowledgedUntil']).toBe(until);
  expect(complaints).toEqual([]);
});

test('an incident that an Admin announces appears on the public status page', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const token = await app.login('admin');
  const checks = [{ name: 'Orders', host: 'web-1' }];
  await putPage(app, token, 'shop', { title: 'Shop', groups: [{ name: 'Services', checks }] });
  await sendAlert(app, { level: 'CRITICAL', source: 'secret-source', message: 'the database of web-1 is full' });
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'admin');
  await page.goto('/console/#/incidents/1');
  await dialog(page, 'Incident').getByRole('button', { name: 'Announce…' }).click();
  const form = page.getByRole('dialog', { name: /^Announce: / });
  await expect(form.getByLabel('Announcement')).toContainText('New on Shop');
  await form.getByRole('button', { name: 'Announce' }).click();
  await expect(form.getByRole('alert')).toHaveText('Enter a text.');
  await form.getByLabel('Title').fill('Orders are delayed');
  await form.getByLabel('State').selectOption('Identified');
  await form.getByLabel('Text', { exact: true }).fill('We are working on the database.');
  expect(await findFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Announce' }).click();
  await expect(page.getByText('Announced.')).toBeVisible();
  const { page: open, complaints: openComplaints } = await openConsole({ app });
  await open.goto('/status/shop');
  for (const width of [360, 1280]) {
    await open.setViewportSize({ width, height: 800 });
    await expect(open.getByText('Orders are delayed')).toBeVisible();
    await expect(open.getByText('We are working on the database.')).toBeVisible();
    await expect(open.getByText('web-1')).toHaveCount(0);
  }
  // The page reloads itself without scripts.
  const faults = await findFaults(open);
  expect(faults.filter((each) => !each.includes('meta-refresh'))).toEqual([]);
  expect([complaints, openComplaints]).toEqual([[], []]);
});

test('a proposed override is accepted and another is declined', async ({ scope, serveApp, openConsole }) => {
  const hour = 3_600_000;
  const now = Math.floor(Date.now() / hour) * hour;
  const absence = (days: number) => [
    `DTSTART:${toStamp(now + days * 24 * hour)}`,
    `DTEND:${toStamp(now + days * 24 * hour + 5 * hour)}`,
  ];
  const url = await startCalendar(scope, (response) => response.end(toCalendar(absence(2), absence(4))));
  const app = await serveApp();
  const layers = [
    { people: ['admin'], handover: { every: '1 week' }, until: '2026-01-05' },
    { people: ['reader'], handover: { every: '1 week' } },
  ];
  const token = await app.login('admin');
  expect((await app.request('PUT', '/api/rotations/ops', { token, body: { layers } })).status).toBe(201);
  const { page, complaints } = await openConsole({ app, hash: '#/oncall' });
  await logIn(page, 'reader');
  await page.getByRole('button', { name: 'Absences…' }).click();
  const form = dialog(page, 'Your absence calendar');
  await form.getByLabel('Address').fill(url);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
  const proposals = page.getByRole('listitem').filter({ hasText: 'reader is on call in ops and absent from' });
  await expect(proposals).toHaveCount(2);
  await expect(proposals.first()).toContainText('Substitute: admin');
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findFaults(page)).toEqual([]);
  }
  await page.getByRole('button', { name: 'Accept: reader in ops' }).first().click();
  await expect(page.getByText('admin is on call instead.')).toBeVisible();
  await expect(proposals).toHaveCount(1);
  await page.getByRole('button', { name: 'Decline: reader in ops' }).click();
  await expect(page.getByText('Proposal declined.')).toBeVisible();
  await expect(proposals).toHaveCount(0);
  const calendar = page.getByRole('region', { name: 'Calendar of ops' });
  await expect(calendar.getByRole('button', { name: /^admin \(override\): / })).toHaveCount(1);
  expect(complaints).toEqual([expect.stringMatching(/404 .*absences/)]);
});
