import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, toSkip } from '../e2e/browser.ts';
import { passwords, startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { clientPath } from './built-client.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const openPage = async (t: Scope, url: string): Promise<Page> => {
  const context = await browser?.newContext();
  if (!context) throw new Error('no Chromium or Chrome is installed here');
  atEnd(t, () => context.close());
  const page = await context.newPage();
  await page.goto(url);
  return page;
};

/** Opens a page of another origin that has the built client as client.js. */
const openForeignPage = async (t: Scope): Promise<Page> => {
  const { url } = await startReceiver(t, (response, { path }) => {
    const isScript = path === '/client.js';
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? readFileSync(clientPath) : '<!doctype html><title>Another origin</title>');
  });
  return openPage(t, url);
};

/** Run in the page: a task is made, changed by its version, listed, and an alert comes as an event after a lost stream. */
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

test('a page that the server serves uses the client', { skip }, async (t) => {
  const publicDir = createFolder(t);
  writeFileSync(join(publicDir, 'index.html'), '<!doctype html><title>A page of your own</title>');
  cpSync(clientPath, join(publicDir, 'client.js'));
  const { url } = await startApp(t, { settings: { publicDir } });
  const page = await openPage(t, `${url}/docs/`);
  const seen = await page.evaluate(`(${useClient})(${JSON.stringify([url, passwords.admin])})`);
  assert.deepEqual(seen, {
    ...{ isError: true, status: 412, titles: ['Check the backups'], page: 1 },
    ...{ messages: ['before', 'after the stream was lost'], opened: 2 },
  });
});

test('a page of another origin uses the client where cors allows it, with the headers that it allows', {
  skip,
}, async (t) => {
  const { url } = await startApp(t, { settings: { cors: true } });
  const page = await openForeignPage(t);
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
  assert.deepEqual(seen, { Id: 1, Status: 'Completed', page: 1, topic: 'host' });
});

test('without cors, the client reports that it gets no response', { skip }, async (t) => {
  const { url } = await startApp(t);
  const page = await openForeignPage(t);
  const code = await page.evaluate(
    `import('/client.js').then(({ createClient }) => createClient('${url}', { retries: 0 }).listTasks()).catch(({ code }) => code)`,
  );
  assert.equal(code, 'connection');
});
