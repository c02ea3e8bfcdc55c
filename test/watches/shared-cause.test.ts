import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWatch, readWatch, waitForAlerts, waitForState } from './support/watches.ts';

test('if most checks cannot run, one alert names this machine as the probable cause, and is resolved when the checks run again', async (t) => {
  const checks = { name: 'checks', type: 'checks', every: 1 };
  const app = await startApp(t, { settings: { watches: [checks] } });
  const token = await app.login('admin');
  const { url } = await startReceiver(t);
  const names = ['a', 'b', 'c', 'd'];
  const toWatch = (name: string, host: string) => ({
    name,
    type: 'http',
    url: url.replace('127.0.0.1', host),
    every: 1,
  });
  for (const name of names) await createWatch(app, token, toWatch(name, `${name}.invalid`));
  const good = toWatch('good', '127.0.0.1');
  await createWatch(app, token, good);
  const [alert] = await waitForAlerts(app, 1);
  assert.equal(alert?.level, 'ERROR');
  assert.match(
    alert?.message ?? '',
    /^[34] of [345] network checks cannot run, so the cause is probably on this machine: the (host name|name server) /,
  );
  for (const name of names) await waitForState(app, token, name, 'cannot check');
  assert.equal(await waitForAlerts(app, 1).then(({ length }) => length), 1);
  // Two of the checks still cannot run, so each now has a separate alert.
  const fix = (name: string) => app.request('PUT', `/api/watches/${name}`, { token, body: toWatch(name, '127.0.0.1') });
  for (const name of ['a', 'b']) await fix(name);
  const alerts = await waitForAlerts(app, 4);
  assert.equal(
    alerts.find(({ resolves }) => resolves === alert?.id)?.message,
    'Resolved: 3 of 5 network checks can run',
  );
  const own = alerts.filter(({ status, source }) => status === 'firing' && source !== 'watch/checks');
  assert.deepEqual(own.map(({ source }) => source).sort(), ['watch/c', 'watch/d']);
  for (const name of ['c', 'd']) await fix(name);
  await waitForState(app, token, 'c', 'ok');
  assert.equal((await readWatch(app, token, 'checks')).state, 'ok');
  assert.equal((await waitForAlerts(app, 6)).filter(({ resolves }) => resolves !== null).length, 3);
});
