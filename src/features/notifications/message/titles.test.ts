import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../../../../test/support/app.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';

const source = 'backup';
const level = 'ERROR';
const hostname = 'web-1';
const message = 'no backup since Monday\nof any disk';

for (const [alert, title, incident] of [
  [{ source, level, message, hostname }, 'ERROR backup on web-1', 'no backup since Monday of any disk on web-1'],
  [{ source, level, hostname }, 'ERROR backup on web-1', 'backup on web-1'],
  [{ source, level }, 'ERROR backup', 'backup'],
  [{ level, hostname }, 'ERROR alert on web-1', 'ERROR alert on web-1'],
  [{ level }, 'ERROR alert', 'ERROR alert'],
  [{ source }, 'backup', 'backup'],
  [{ hostname }, 'Alert on web-1', 'WARNING alert on web-1'],
  [
    { level, message, hostname },
    'ERROR no backup since Monday on web-1',
    'no backup since Monday of any disk on web-1',
  ],
  [{ message: 'web-1 is down', hostname }, 'web-1 is down', 'web-1 is down'],
  [{ source: '\u0000', message: '\n', hostname }, 'Alert on web-1', 'WARNING alert on web-1'],
] as const) {
  test(`the titles of ${JSON.stringify(alert)} are ${title}, and ${incident} for its incident`, async (t) => {
    const receiver = await startReceiver(t);
    const gotify = { type: 'gotify', url: receiver.url, secret: 'x' };
    const destinations = [
      { ...gotify, name: 'alerts', notify: 'alerts' },
      { ...gotify, name: 'incidents', notify: 'incidents', groupSeconds: 0 },
    ];
    const app = await startApp(t, { settings: { destinations } });
    assert.equal((await app.request('POST', '/api/alert', { body: alert })).status, 200);
    await waitUntil('both destinations have a message', () => receiver.requests.length === 2);
    const titles: string[] = receiver.requests.map(({ body }) => JSON.parse(body).title);
    const severity = 'level' in alert ? 'ERROR' : 'WARNING';
    assert.deepEqual(titles.toSorted(), [title, `${severity} #1 ${incident}`].toSorted());
  });
}
