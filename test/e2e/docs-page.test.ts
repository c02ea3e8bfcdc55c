import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startProgram } from '../support/program.ts';
import { openBrowser, toSkip } from './browser.ts';
import { openDocs, readRoutes } from './docs-page.ts';

interface Operation {
  security: unknown[];
  responses: Record<string, unknown>;
}

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** The routes of a document as the page should list them, sorted. */
const listExpected = (paths: Record<string, Record<string, Operation>>): string[] =>
  Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { security, responses }]) =>
          `${method.toUpperCase()} ${path} ${security.length === 0 ? 'open' : '403' in responses ? 'Admin' : 'token'}`,
      ),
    )
    .sort();

test('the page lists every route of the OpenAPI document with who may call it', { skip }, async (t) => {
  const { page, app, complaints } = await openDocs(t, browser);
  const { json } = await app.request<{ paths: Record<string, Record<string, Operation>> }>('GET', '/openapi.json');
  const routes = await readRoutes(page);
  assert.deepEqual(routes.toSorted(), listExpected(json.paths));
  assert.ok(routes.includes('POST /api/execute Admin') && routes.includes('GET /api/items token'));
  assert.equal(await page.getByRole('status').textContent(), `${routes.length} routes`);
  assert.deepEqual(complaints, []);
});

test('routes are grouped by profile and base path', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await readRoutes(page);
  const titles = await page.getByRole('heading', { level: 3 }).allTextContents();
  const bases = ['tasks', 'protected-tasks on /protected', 'login', 'login on /protected', 'simple-tasks on /simple'];
  assert.deepEqual(
    bases.filter((title) => !titles.includes(title)),
    [],
  );
  await page.getByRole('link', { name: 'simple-tasks /simple' }).click();
  await page.waitForURL('**/docs/#/simple:simple-tasks');
});

test('an opened route shows the fields of request and response, its errors and an example', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  const route = page.locator('details', { hasText: 'POST /api/tasks ' });
  await route.locator('summary').click();
  const text = (await route.textContent()) ?? '';
  assert.match(text, /Request body application\/json\s*Title\s*string required, at most 200 characters, not blank/);
  assert.match(text, /Description\s*string optional/);
  assert.match(text, /Response 201 Created application\/json\s*Id\s*integer/);
  assert.match(text, /UpdatedAt\s*string not always there/);
  assert.match(text, /400\s*The body or a parameter is missing or invalid \{error, detail\[\]\}/);
  const example = await page.getByRole('region', { name: 'Example response of POST /api/tasks' }).textContent();
  assert.equal(JSON.parse(example ?? '').Title, 'Check the backups');
});

test('the fields of listed objects are shown below the list', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  const route = page.locator('details', { hasText: 'GET /api/tasks List' });
  await route.locator('summary').click();
  assert.match((await route.textContent()) ?? '', /data\s*object\[\].*Id\s*integer.*Title\s*string/s);
});

test('markup in the OpenAPI document is shown as text', { skip }, async (t) => {
  const hostile = '<img src=x onerror=alert(1)>`<b>bold</b>`';
  const fields = { [hostile]: { type: 'string', description: hostile, default: hostile } };
  const operation = {
    summary: hostile,
    tags: [hostile],
    parameters: [{ in: 'query', name: hostile, schema: { enum: [hostile] }, description: hostile }],
    requestBody: { content: { 'application/json': { schema: { type: 'object', properties: fields } } } },
    responses: { [hostile]: {} },
  };
  const document = JSON.stringify({
    info: { version: hostile },
    tags: [{ name: hostile, description: hostile }],
    paths: { [`/${hostile}`]: { post: operation } },
  });
  const { page, complaints } = await openDocs(t, browser, { document });
  assert.deepEqual(await readRoutes(page), [`POST /${hostile} open`]);
  assert.equal(await page.locator('.routes img, b').count(), 0);
  assert.deepEqual(complaints, []);
});

test('the page reports a stopped server, and shows the routes once it is available again', { skip }, async (t) => {
  const { page, app } = await openDocs(t, browser);
  await page.route('**/openapi.json', async (route) => {
    await app.close();
    await route.continue();
  });
  await page.reload();
  await page.getByRole('alert').getByText('The server does not respond.').waitFor();
  await page.unrouteAll();
  const { port } = new URL(app.url);
  await startProgram(t, ['--port', port, '--profiles', 'items']);
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  assert.ok((await readRoutes(page)).includes('GET /api/items token'));
  assert.equal(await page.getByRole('alert').isVisible(), false);
  assert.equal(await page.evaluate('document.activeElement.id'), 'routes');
});

const answers = [
  { status: 503, document: '{"error":"busy"}', says: 'The server responded with status 503.' },
  { status: 200, document: '{"paths":', says: 'The response was incomplete or not JSON.' },
  { status: 200, document: '{"paths":{}}', says: 'No profile is mounted: there are no routes.' },
];
for (const { says, ...answer } of answers) {
  test(`the page shows "${says}" if the document is ${answer.status} ${answer.document}`, { skip }, async (t) => {
    const { page } = await openDocs(t, browser, answer);
    await page.getByText(says).waitFor();
    assert.equal(await page.getByLabel('Filter').isVisible(), false);
  });
}

test('the page without scripts links to the OpenAPI document', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { javaScriptEnabled: false });
  await page.locator('noscript a').click();
  await page.waitForURL('**/openapi.json');
});
