import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { openBrowser, toSkip } from './browser.ts';
import { openDocs, readRoutes } from './docs-page.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

test('the permalink of a route opens it, in view and with the focus', { skip }, async (t) => {
  const { page, complaints } = await openDocs(t, browser, { hash: '#retryDelivery' });
  const route = page.locator('details[open]');
  await route.getByText('/api/deliveries/{destination}/{id}/retry').first().waitFor();
  assert.equal(await route.count(), 1);
  assert.equal(await page.evaluate('document.activeElement.localName'), 'summary');
  const { top } = await page.evaluate<{ top: number }>('document.activeElement.getBoundingClientRect().toJSON()');
  assert.ok(top >= 0 && top < 700, String(top));
  assert.deepEqual(complaints, []);
});

test('opening a route puts its permalink into the address, and Back returns to the link followed before', {
  skip,
}, async (t) => {
  const { page } = await openDocs(t, browser);
  await readRoutes(page);
  await page.locator('summary', { hasText: '/api/info' }).press('Enter');
  await page.waitForURL('**/docs/#getInfo');
  await page.locator('summary', { hasText: '/api/disks' }).press('Enter');
  await page.waitForURL('**/docs/#listDisks');
  await page.getByRole('link', { name: 'Permalink of GET /api/info' }).click();
  await page.waitForURL('**/docs/#getInfo');
  await page.goBack();
  await page.waitForURL('**/docs/#listDisks');
  await page.goForward();
  await page.waitForURL('**/docs/#getInfo');
});

test('a link to a route that the filter hides clears the filter', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  const all = await readRoutes(page);
  await page.getByLabel('Filter').fill('no such route');
  await page.evaluate('location.hash = "#listItems"');
  await page.locator('details[open]').waitFor();
  assert.deepEqual(await readRoutes(page), all);
});

test('a hash that names nothing is ignored', { skip }, async (t) => {
  const { page, complaints } = await openDocs(t, browser, { hash: '#%F0%zz' });
  await readRoutes(page);
  assert.deepEqual(complaints, []);
});

test('the language of the calls is chosen once for all routes, with the arrow keys, and kept', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#createTask' });
  const call = page.getByRole('region', { name: 'Call of POST /api/tasks', exact: true });
  await call.getByText(/^curl/).waitFor();
  await page.locator('details[open]').getByRole('radio', { name: 'curl' }).press('ArrowRight');
  await call.getByText(/^Invoke-RestMethod -Method Post/).waitFor();
  await page.goto('/docs/#listDisks');
  await page.reload();
  await page
    .getByRole('region', { name: 'Call of GET /api/disks' })
    .getByText(/^Invoke-RestMethod -Uri/)
    .waitFor();
});

test('Copy puts the call on the clipboard and says so', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, {
    hash: '#listItems',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const button = page.locator('details[open]').getByRole('button', { name: 'Copy the call' });
  await button.press('Enter');
  await page.locator('details[open]').getByRole('button', { name: 'Copied the call' }).waitFor();
  const text = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(text, /^curl .*\/api\/items' \\\n {2}-H "Authorization: Bearer \$TOKEN"$/);
  await button.waitFor();
});

test('Copy works where the browser offers no clipboard, as on HTTP without localhost', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#listItems' });
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
  const route = page.locator('details[open]');
  await route.getByRole('button', { name: 'Copy the call' }).press('Enter');
  await route.getByRole('button', { name: 'Copied the call' }).waitFor();
  assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^Copied/);
});

test('the theme chosen in the console applies to the page', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { colorScheme: 'light' });
  await page.evaluate('localStorage.setItem("signalbox-preferences", JSON.stringify({ theme: "dark" }))');
  await page.reload();
  assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
});

/** A proxy that serves the app of `url` below `/box/`; returns its address. */
const startProxy = async (t: TestContext, url: string): Promise<string> => {
  const proxy = createServer(({ method, headers, url: path = '' }, response) => {
    const options = { method, headers, host: '127.0.0.1', port: new URL(url).port, path: path.replace(/^\/box/, '') };
    forward(options, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  });
  t.after(() => proxy.close());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/box`;
};

test('behind a proxy that serves the app below another path, calls and try-it use that path', { skip }, async (t) => {
  const { page, app, complaints } = await openDocs(t, browser);
  const address = await startProxy(t, app.url);
  await page.goto(`${address}/docs/#getInfo`);
  await page.getByRole('region', { name: 'Call of GET /api/info' }).getByText(`${address}/api/info`).waitFor();
  await page.getByRole('button', { name: 'Try it GET /api/info' }).press('Enter');
  await page.getByRole('button', { name: 'Send GET /api/info' }).press('Enter');
  await page.getByText(/^200 OK/).waitFor();
  assert.deepEqual(complaints, []);
});
