import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTree } from '../../../../test/support/host.ts';
import { countUsers, countUtmpUsers } from './users.ts';

/** Records of a utmp file with the given types; 7 is a user's session, 2 the boot, 8 one that ended. */
const toUtmp = (length: number, ...types: number[]): Buffer => {
  const content = Buffer.alloc(length * types.length, 0x20);
  for (const [index, type] of types.entries()) {
    new Int16Array(content.buffer, content.byteOffset, content.length / 2)[(index * length) / 2] = type;
  }
  return content;
};

test('sessions of users are counted in records of either length', () => {
  assert.equal(countUtmpUsers(toUtmp(384, 2, 7, 8, 7)), 2);
  assert.equal(countUtmpUsers(toUtmp(400, 2, 7, 8)), 1);
});

test('an empty utmp file has no users, and a damaged one no count', () => {
  assert.equal(countUtmpUsers(Buffer.alloc(0)), 0);
  assert.equal(countUtmpUsers(Buffer.alloc(383)), null);
});

test('sessions of systemd-logind take precedence over utmp', async (t) => {
  const run = createTree(t, {
    'systemd/sessions/1': 'UID=1000\nCLASS=user\nSTATE=active\n',
    'systemd/sessions/2': 'UID=1000\nCLASS=user\nSTATE=closing\n',
    'systemd/sessions/3': 'UID=1000\nCLASS=manager\nSTATE=active\n',
    'systemd/sessions/4/x': '',
    'systemd/sessions/1.ref': 'CLASS=user\n',
    utmp: toUtmp(384, 7, 7, 7),
  });
  assert.equal(await countUsers(run), 1);
});

test('without systemd-logind the users come from utmp, and without both the count is null', async (t) => {
  assert.equal(await countUsers(createTree(t, { utmp: toUtmp(384, 7) })), 1);
  assert.equal(await countUsers(createTree(t, {})), null);
});
