import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults } from './console.ts';
import { openDocs } from './docs-page.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** Opens the form of a route, such as `POST /api/tasks`, with the keyboard; the route must be in the address. */
const openForm = async (page: Page, route: string): Promise<Locator> => {
  await page.getByRole('button', { name: `Try it ${route}`, exact: true }).press('Enter');
  return page.getByRole('form', { name: `Try ${route}`, exact: true });
};

const send = (form: Locator): Promise<void> => form.getByRole('button', { name: 'Send' }).press('Enter');

/** The text of the response once it is complete. */
const readResponse = async (page: Page, route: string): Promise<string> =>
  (await page.getByRole('region', { name: `Response of ${route}`, exact: true }).textContent()) ?? '';

test('a body prefilled with the example is changed and sent, and the response is shown with status and headers', {
  skip,
}, async (t) => {
  const { page, app, complaints } = await openDocs(t, browser, { hash: '#createTask' });
  const form = await openForm(page, 'POST /api/tasks');
  const body = form.getByLabel('Body');
  assert.deepEqual(JSON.parse(await body.inputValue()), { Title: 'Check the backups' });
  await body.fill('{"Title":"<b>tried</b>"}');
  const call = page.getByRole('region', { name: 'Call of POST /api/tasks', exact: true });
  assert.match((await call.textContent()) ?? '', /<b>tried<\/b>/);
  await send(form);
  assert.equal(JSON.parse(await readResponse(page, 'POST /api/tasks')).Title, '<b>tried</b>');
  await page.getByText(/^201 Created in \d+ ms\./).waitFor();
  await page.getByText('application/json; charset=utf-8').waitFor();
  const { json } = await app.request<{ data: { Title: string }[] }>('GET', '/api/tasks');
  assert.equal(json.data.filter(({ Title }) => Title === '<b>tried</b>').length, 1);
  assert.deepEqual(complaints, []);
});

test('nothing is sent before Send is pressed: not by opening the form, nor by Enter in a field of DELETE', {
  skip,
}, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#deleteTask' });
  const sent: string[] = [];
  const form = await openForm(page, 'DELETE /api/tasks/{id}');
  page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await form.getByLabel('id').fill('77');
  await form.getByLabel('id').press('Enter');
  assert.deepEqual(sent, []);
  await send(form);
  assert.equal(JSON.parse(await readResponse(page, 'DELETE /api/tasks/{id}')).error, 'Task with Id=77 not found');
  assert.deepEqual(sent, ['DELETE /api/tasks/77']);
});

test('a required parameter that is empty is not sent', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#getTask' });
  const form = await openForm(page, 'GET /api/tasks/{id}');
  await form.getByLabel('id').fill('');
  await send(form);
  assert.equal(await page.evaluate('document.activeElement.matches("input:invalid")'), true);
  await page.getByText('Press Send to see the response here.').waitFor();
});

test('Enter in a field of a GET route sends it with its parameters', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#listTasks' });
  const form = await openForm(page, 'GET /api/tasks');
  await form.getByLabel('priority').selectOption('High');
  await form.getByLabel('limit').fill('1');
  await form.getByLabel('limit').press('Enter');
  const { limit } = JSON.parse(await readResponse(page, 'GET /api/tasks'));
  assert.equal(limit, 1);
});

test('text that is not JSON is sent as it is, after a warning', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#createTask' });
  const form = await openForm(page, 'POST /api/tasks');
  await form.getByLabel('Body').fill('{"Title":');
  await form.getByText('This is not valid JSON. It is sent as it is.').waitFor();
  await send(form);
  await page.getByText(/^400 Bad Request/).waitFor();
  await form.getByRole('button', { name: 'Reset' }).press('Enter');
  assert.equal(JSON.parse(await form.getByLabel('Body').inputValue()).Title, 'Check the backups');
});

test('a long response is cut, and shown in full when asked for', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#getMetrics' });
  await send(await openForm(page, 'GET /metrics'));
  assert.match(await readResponse(page, 'GET /metrics'), /\n…$/);
  await page.getByRole('button', { name: /^Show all [\d,]+ lines$/ }).press('Enter');
  const { length } = (await readResponse(page, 'GET /metrics')).split('\n');
  assert.ok(length > 200, String(length));
  assert.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Response of GET /metrics');
});

test('a stream is shown as it arrives, and ends with Stop', { skip }, async (t) => {
  const { page, app, complaints } = await openDocs(t, browser, { hash: '#streamEvents' });
  const form = await openForm(page, 'GET /api/events');
  assert.equal(await form.getByLabel('topics').inputValue(), 'alerts,tasks');
  await send(form);
  const stream = page.getByRole('region', { name: 'Stream of GET /api/events' });
  await stream.getByText('event: hello').waitFor();
  await app.request('POST', '/api/alert', { body: { message: 'seen live' } });
  await stream.getByText('seen live').waitFor();
  await form.getByRole('button', { name: 'Stop' }).press('Enter');
  await page.getByText(/^200 OK in .*Stopped\.$/).waitFor();
  assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^Send/);
  assert.deepEqual(complaints, []);
});

test('a server that is gone is reported, and the form works again once it is back', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#getHealth' });
  const form = await openForm(page, 'GET /api/health');
  await page.route('**/api/health', (route) => route.abort('connectionrefused'));
  await send(form);
  await page.getByText('No response: the server cannot be reached.').waitFor();
  await page.unrouteAll();
  await send(form);
  await page.getByText(/^200 OK/).waitFor();
});

test('axe finds no violation in an open form with a response, at three widths in light and dark', {
  skip,
}, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#updateTask' });
  await send(await openForm(page, 'PUT /api/tasks/{id}'));
  await readResponse(page, 'PUT /api/tasks/{id}');
  assert.deepEqual(await findFaults(page), []);
});
