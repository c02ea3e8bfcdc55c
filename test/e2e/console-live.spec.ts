import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Page } from '@playwright/test';
import type { Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { isLong, sendAlert, type TestApp } from './support/app.ts';
import { note, test } from './support/console.ts';
import { startLine } from './support/line.ts';
import { logIn } from './support/page.ts';

/** Number of times that the server is killed. */
const kills = isLong ? 10 : 1;

/** Number of rows of a list that are in the page at any scroll position. */
const visible = 20;

const offline = 'Offline: cannot reach the server, trying again';

const send = (app: TestApp, message: string): Promise<string> =>
  sendAlert(app, { source: 'disk', level: 'ERROR', message, hostname: 'web-1' });

const isLive = (page: Page): Promise<void> => expect(page.getByText('Live', { exact: true })).toBeVisible();

/** Sends alerts one by one. Resolves to the milliseconds that each alert took to appear on the page. */
const timeAlerts = async (page: Page, app: TestApp, count: number): Promise<number[]> => {
  const times: number[] = [];
  for (let round = 0; round <= count; round += 1) {
    const seen = page
      .getByText(`alert of round ${round}`)
      .waitFor()
      .then(() => performance.now());
    const sent = performance.now();
    await send(app, `alert of round ${round}`);
    times.push((await seen) - sent);
  }
  // The first alert also creates the list.
  return times.slice(1).toSorted((a, b) => a - b);
};

test('a new alert appears in the list immediately, not with the next poll', async ({ openConsole }) => {
  const { page, app, complaints } = await openConsole({ hash: '#/alerts' });
  await isLive(page);
  const times = await timeAlerts(page, app, 9);
  note(`milliseconds until an alert is shown: median ${times[4]?.toFixed(0)}, longest ${times[8]?.toFixed(0)}`);
  // Without events, half of the alerts would take longer.
  expect(times[4]).toBeLessThan(1000);
  expect(complaints).toEqual([]);
});

/** Reads the ids of the listed alerts, newest first. */
const readIds = async (page: Page): Promise<string[]> => {
  const links = page.getByRole('table', { name: 'Alerts' }).getByRole('link');
  const addresses = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).hash));
  return addresses.map((hash) => /[\da-f-]{36}/.exec(hash)?.[0] ?? hash);
};

test('a killed server is reported within 3 s, and the list resumes without losing or repeating an alert', async ({
  startPublished,
  openConsole,
}) => {
  const settings = { profiles: ['monitoring', 'alerts', 'events'] };
  let app = await startPublished({ settings });
  const port = Number(new URL(app.url).port);
  const sent: string[] = [];
  const post = async (message: string) => sent.unshift(await send(app, message));
  await post('before the page is open');
  const viewport = { width: 1280, height: 2000 };
  const { page } = await openConsole({ app, viewport, hash: '#/alerts?fold=off' });
  await isLive(page);
  await expect(page.getByRole('link', { name: 'before the page is open' })).toBeVisible();
  for (let round = 0; round < kills; round += 1) {
    await post('while the page is open');
    // This alert may never be sent to the page.
    await post('just before the end');
    const killed = performance.now();
    await app.stop('SIGKILL');
    await expect(page.getByText(offline)).toBeVisible();
    const reported = performance.now() - killed;
    app = await startPublished({ settings, folder: app.folder, port });
    for (let count = 0; count < 5; count += 1) await post('before the page is connected again');
    const restarted = performance.now();
    await isLive(page);
    const connected = performance.now() - restarted;
    await post('after the restart');
    // Only visible rows are compared here. The log is compared in full at the end.
    await expect.poll(async () => (await readIds(page)).slice(0, visible)).toEqual(sent.slice(0, visible));
    note(`offline shown after ${reported.toFixed(0)} ms, live again after ${connected.toFixed(0)} ms`);
    expect(reported).toBeLessThan(3000);
  }
  const { json } = await app.request<{ data: { id: string }[] }>('GET', '/api/alerts/search?limit=1000');
  expect(json.data.map(({ id }) => id)).toEqual(sent);
});

test('a list that was offline does not lose or repeat an alert', async ({ scope, serveApp, openConsole }) => {
  const app = await serveApp();
  const line = await startLine(scope, app.url);
  const sent = [await send(app, 'alert 1')];
  const { page } = await openConsole({ app, baseURL: line.url, hash: '#/alerts?fold=off' });
  await expect(page.getByRole('link', { name: 'alert 1' })).toBeVisible();
  await isLive(page);
  line.cut();
  await expect(page.getByText(offline)).toBeVisible();
  // The alerts fill more than a page of the list.
  for (let number = 2; number < 150; number += 1) sent.unshift(await send(app, `alert ${number}`));
  line.restore();
  await expect(page.getByRole('link', { name: 'alert 149' })).toBeVisible();
  await expect(page.getByText('149 alerts', { exact: true })).toBeVisible();
  const shown = await readIds(page);
  expect(shown).toEqual(sent.slice(0, shown.length));
});

/** Starts a proxy that buffers each response until it is complete. Resolves to the URL. */
const startBufferingProxy = async (scope: Scope, target: string): Promise<string> => {
  const server = createServer((incoming, outgoing) => {
    const options = { method: incoming.method, headers: incoming.headers, agent: false };
    const forwarded = request(new URL(incoming.url ?? '/', target), options, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () =>
        outgoing.writeHead(response.statusCode ?? 502, response.headers).end(Buffer.concat(pieces)),
      );
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

test('the console polls if a proxy buffers responses', async ({ scope, serveApp, openConsole }) => {
  const app = await serveApp();
  const url = await startBufferingProxy(scope, app.url);
  const { page } = await openConsole({ app: { ...app, url }, hash: '#/alerts', hasClock: true });
  await page.clock.fastForward(4000);
  await expect(page.getByText('Polling', { exact: true })).toBeVisible();
  const times = await timeAlerts(page, app, 1);
  note(`milliseconds until an alert is shown while polling: ${times.map(Math.round).join(', ')}`);
  expect(times[0]).toBeLessThan(10_000);
});

test('the console loads and stays live over a slow network', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await send(app, 'before');
  const { page, complaints } = await openConsole({ app, hash: '#/nowhere' });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const rate = 50_000;
  const slow = { offline: false, latency: 400, downloadThroughput: rate, uploadThroughput: rate };
  await session.send('Network.emulateNetworkConditions', slow);
  await page.goto('about:blank');
  const started = performance.now();
  await page.goto('/console/#/alerts');
  await expect(page.getByRole('link', { name: 'before' })).toBeVisible();
  note(`alerts are shown after ${Math.round(performance.now() - started)} ms at 50 kB/s and 400 ms`);
  await isLive(page);
  const times = await timeAlerts(page, app, 3);
  note(`milliseconds until an alert is shown: ${times.map(Math.round).join(', ')}`);
  await expect(page.getByText(offline)).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('two tabs with their own logins show the same changes', async ({ openConsole }) => {
  const { page, app, complaints } = await openConsole({ hash: '#/tasks' });
  const other = await page.context().newPage();
  await other.goto('/console/#/tasks');
  await logIn(page, 'admin');
  await expect(other.getByRole('banner').getByRole('button', { name: 'Log in' })).toBeVisible();
  await Promise.all([isLive(page), isLive(other)]);
  await page.getByRole('button', { name: 'New task' }).click();
  await page.getByLabel('Title', { exact: true }).fill('made in one tab');
  await page.keyboard.press('Enter');
  await expect(other.getByRole('button', { name: 'made in one tab', exact: true })).toBeVisible();
  await other.getByRole('button', { name: 'Complete made in one tab' }).click();
  await expect(page.getByRole('combobox', { name: 'Status of made in one tab' })).toHaveValue('Completed');
  await other.goto('/console/#/alerts');
  await send(app, 'for both');
  await page.goto('/console/#/');
  await Promise.all([page, other].map((each) => each.getByRole('link', { name: 'for both' }).first().waitFor()));
  expect(complaints).toEqual([]);
});

test('a hidden tab closes its stream, and shows the missed changes once it is visible', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const { page } = await openConsole({ app, hash: '#/alerts?fold=off', hasClock: true });
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
      document.dispatchEvent(new Event('visibilitychange'))`);
  const countStreams = async () =>
    Number(/^signalbox_event_streams (\d+)/m.exec((await app.request('GET', '/metrics')).text)?.[1]);
  await isLive(page);
  const sent = [await send(app, 'while visible')];
  await expect(page.getByRole('link', { name: 'while visible' })).toBeVisible();
  await waitUntil('there is one stream', async () => (await countStreams()) === 1);
  await setHidden(true);
  await page.clock.fastForward(10_000);
  await waitUntil('the stream is closed', async () => (await countStreams()) === 0);
  for (const message of ['hidden 1', 'hidden 2']) sent.unshift(await send(app, message));
  await setHidden(false);
  await expect(page.getByRole('link', { name: 'hidden 2' })).toBeVisible();
  expect(await readIds(page)).toEqual(sent);
});

test('a stream that keeps ending is reopened after increasing delays', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/nowhere' });
  const opened: number[] = [];
  await page.route('**/api/events*', (route) => {
    opened.push(performance.now());
    return route.fulfill({ contentType: 'text/event-stream', body: ': hello\n\n' });
  });
  await page.evaluate('location.hash = "#/alerts"');
  await waitUntil('the stream is opened again', () => opened.length > 7);
  const last = opened.slice(-6);
  const pauses = last.slice(1).map((time, index) => time - (last[index] ?? 0));
  for (const [index, pause] of pauses.slice(1).entries()) expect(pause).toBeGreaterThan((pauses[index] ?? 0) * 1.3);
});
