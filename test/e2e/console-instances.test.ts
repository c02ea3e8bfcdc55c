import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, logIn, openConsole } from './console.ts';

const ends: (() => unknown)[] = [];
// Before the browser, which makes this process use a temporary folder that no other user can read.
const server = toSkipPostgres()
  ? undefined
  : await startPostgres({ after: (end) => ends.push(end) }, { settings: { fsync: 'off' } });
const browser = await openBrowser();
const skip = toSkip(browser) || toSkipPostgres();
after(async () => {
  await browser?.close();
  for (const end of ends) await end();
});

test('the console lists the instances that share a database, and says which one answers', { skip }, async (t) => {
  assert.ok(server);
  const start = (instanceName: string) =>
    startApp(t, { settings: { store: server.url(), timeZone: 'UTC', instanceName } });
  const [app, other] = [await start('one'), await start('two')];
  await other.close();
  await server.sql(`UPDATE signalbox.writer SET seen_at = now() - interval '2 hours' WHERE name = 'two'`);
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/instances' });
  await logIn(page, 'admin');
  const rows = page.getByRole('table', { name: 'Instances' }).getByRole('row');
  await rows.filter({ hasText: 'one (this one)' }).filter({ hasText: 'Live' }).waitFor();
  await rows
    .filter({ hasText: 'two' })
    .filter({ hasText: 'Not seen' })
    .filter({ hasText: /2 h\S* ago/ })
    .waitFor();
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('without a database, the console has no screen for instances', { skip: toSkip(browser) }, async (t) => {
  const { page } = await openConsole(t, browser);
  await page.getByRole('navigation').getByRole('link', { name: 'Tasks', exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Instances' }).count(), 0);
});
