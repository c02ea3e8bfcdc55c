import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { passwords } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { test } from './support/console.ts';

const clientPath = fileURLToPath(new URL('../../dist/client.js', import.meta.url));

/** Opens a page of another origin that serves the built client as client.js. */
const openForeignPage = async (scope: Scope, page: Page): Promise<void> => {
  const { url } = await startReceiver(scope, (response, { path }) => {
    const isScript = path === '/client.js';
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? readFileSync(clientPath) : '<!doctype html><title>Another origin</title>');
  });
  await page.goto(url);
};

/**
 * Script that runs in the page. It creates, updates and lists a task, and receives the event of an alert after it has
 * lost the stream.
 */
const useClient = `async ([url, password]) => {
  const { createClient, ClientError } = await import(new URL('client.js', document.baseURI));
  let opened = 0;
  const ended = new AbortController();
  const client = createClient(url, {
    credentials: { user: 'admin', password },
    fetch: (address, init) => {
      if (!String(address).includes('/api/events')) return fetch(address, init);
      opened += 1;
      const signal = opened === 1 ? AbortSignal.any([init.signal, ended.signal]) : init.signal;
      return fetch(address, { ...init, signal });
    },
  });
  const { Id: id } = await client.createTask({ Title: 'Check the backups' });
  const { version } = await client.withResponse.getTask({ id });
  await client.updateTask({ id, Status: 'Completed' }, { ifMatch: version });
  const late = await client.updateTask({ id, Status: 'Pending' }, { ifMatch: version }).catch((error) => error);
  const titles = [];
  for await (const { Title } of client.each.listTasks()) titles.push(Title);
  const { page } = await client.listItems();
  const messages = [];
  await client.createAlert({ message: 'before' });
  for await (const { topic, data } of client.streamEvents({ topics: ['alerts'], lastEventId: '0' })) {
    if (topic === 'alerts') messages.push(data.message);
    if (messages.length === 2) break;
    ended.abort();
    await client.createAlert({ message: 'after the stream was lost' });
  }
  return { isError: late instanceof ClientError, status: late.status, titles, page, messages, opened };
}`;

test('a page served by the server can use the client', async ({ scope, serveApp, page }) => {
  const publicDir = createFolder(scope);
  writeFileSync(join(publicDir, 'index.html'), '<!doctype html><title>A page of your own</title>');
  cpSync(clientPath, join(publicDir, 'client.js'));
  const { url } = await serveApp({ settings: { publicDir } });
  await page.goto(`${url}/docs/`);
  expect(await page.evaluate(`(${useClient})(${JSON.stringify([url, passwords.admin])})`)).toEqual({
    isError: true,
    status: 412,
    titles: ['Check the backups'],
    page: 1,
    messages: ['before', 'after the stream was lost'],
    opened: 2,
  });
});

test('a page of an origin that `cors` allows can use the client, including request headers', async ({
  scope,
  serveApp,
  page,
}) => {
  const { url } = await serveApp({ settings: { cors: true } });
  await openForeignPage(scope, page);
  const seen = await page.evaluate(
    `(async ([url, password]) => {
      const { createClient } = await import('/client.js');
      const client = createClient(url, { credentials: { user: 'admin', password } });
      const { Id } = await client.createTask({ Title: 'Check the backups' });
      await client.updateTask({ id: Id, Status: 'Completed' });
      const { page } = await client.listItems();
      const { Status } = await client.getTask({ id: Id });
      for await (const { topic } of client.streamEvents({ topics: ['host'] })) return { Id, Status, page, topic };
    })(${JSON.stringify([url, passwords.admin])})`,
  );
  expect(seen).toEqual({ Id: 1, Status: 'Completed', page: 1, topic: 'host' });
});

test('without `cors`, the client reports that it got no response', async ({ scope, serveApp, page }) => {
  const { url } = await serveApp();
  await openForeignPage(scope, page);
  const code = await page.evaluate(
    `import('/client.js').then(({ createClient }) => createClient('${url}', { retries: 0 }).listTasks()).catch(({ code }) => code)`,
  );
  expect(code).toBe('connection');
});
