import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { createHostReadings } from '../../host/index.ts';
import { commands } from './index.ts';

const host = createHostReadings();
after(() => host.close());

const create = (executeAuth: 'admin' | 'none') =>
  commands.create({
    host,
    clock: () => new Date(),
    log: pino({ level: 'silent' }),
    version: '0.0.0',
    nodeVersion: process.versions.node,
    dataDir: '/nonexistent',
    powerShellPaths: [],
    tokens: { sign: () => assert.fail(), verify: () => assert.fail() },
    records: {},
    settings: { executeAuth, commandTimeout: 10, commandRunner: 'auto' },
  });

test('D29 only admins may run commands, unless the door is opened, which is said', async () => {
  const closed = await create('admin');
  assert.deepEqual(
    closed.profiles['commands']?.map(({ access }) => access),
    ['admin'],
  );
  assert.deepEqual(closed.notices, []);
  const open = await create('none');
  assert.deepEqual(
    open.profiles['commands']?.map(({ access }) => access),
    ['open'],
  );
  assert.match(String(open.notices), /executeAuth is none/);
  await closed.close?.();
});
