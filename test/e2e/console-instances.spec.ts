import { expect } from '@playwright/test';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

test('the console lists the instances that share a database, and marks the instance that responded', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const reason = toSkipPostgres();
  test.skip(reason !== false, String(reason));
  const server = await startPostgres(scope, { settings: { fsync: 'off' } });
  const start = (instanceName: string) =>
    serveApp({ settings: { store: server.url(), timeZone: 'UTC', instanceName } });
  const [app, other] = [await start('one'), await start('two')];
  await other.close();
  await server.sql(`UPDATE signalbox.writer SET seen_at = now() - interval '2 hours' WHERE name = 'two'`);
  const { page, complaints } = await openConsole({ app, hash: '#/instances' });
  await logIn(page, 'admin');
  const rows = page.getByRole('table', { name: 'Instances' }).getByRole('row');
  await expect(rows.filter({ hasText: 'one (this instance)' }).filter({ hasText: 'Live' })).toBeVisible();
  await expect(
    rows
      .filter({ hasText: 'two' })
      .filter({ hasText: 'Not seen' })
      .filter({ hasText: /2 h\S* ago/ }),
  ).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('without a database, the console has no screen for instances', async ({ openConsole }) => {
  const { page } = await openConsole();
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Tasks', exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Instances' })).toHaveCount(0);
});
