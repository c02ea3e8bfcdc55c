import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createTask, readTask, startTasks, updateTask } from './support/tasks.ts';

/** Time zone that test machines are unlikely to use, 5:45 hours ahead of UTC all year. */
const zone = 'Asia/Kathmandu';

before(() => {
  process.env['TZ'] = zone;
});

/** Returns the current time in the zone, to the second, computed independently of the program. */
const readZoneTime = (): string =>
  new Date().toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T').slice(0, 19);

test('CreatedAt is the local time of creation as yyyy-MM-ddTHH:mm:ss, without a zone', async (t) => {
  const app = await startTasks(t);
  const earliest = readZoneTime();
  const { CreatedAt } = await createTask(app);
  assert.match(CreatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.ok(earliest <= CreatedAt && CreatedAt <= readZoneTime(), CreatedAt);
});

test('UpdatedAt is the local time of the last update, as yyyy-MM-ddTHH:mm:ss without a zone', async (t) => {
  const app = await startTasks(t, [{ Title: 'x', UpdatedAt: '2001-02-03T04:05:06' }]);
  const earliest = readZoneTime();
  const { UpdatedAt = '' } = await updateTask(app, 1, { Title: 'y' });
  assert.match(UpdatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.ok(earliest <= UpdatedAt && UpdatedAt <= readZoneTime(), UpdatedAt);
});

test('an update keeps CreatedAt', async (t) => {
  const app = await startTasks(t, [{ Title: 'x', CreatedAt: '2001-02-03T04:05:06' }]);
  assert.equal((await updateTask(app, 1, { Title: 'y' })).CreatedAt, '2001-02-03T04:05:06');
  assert.equal((await readTask(app, 1)).CreatedAt, '2001-02-03T04:05:06');
});
