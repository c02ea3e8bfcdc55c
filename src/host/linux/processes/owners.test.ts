import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree, inBackground, keepRunning } from '../../../../test/support/host.ts';
import { createOwnerReader, parsePasswd } from './owners.ts';

const toStatus = (uid: number): string =>
  `Name:\tUid: 5 5 5 5\nUmask:\t0022\nUid:\t0\t${uid}\t0\t0\nGid:\t0\t0\t0\t0\n`;
const old = new Date(0);

test('the owner of a process is the name of the user that runs it', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sleep', ['60'], inBackground));
  const readOwners = createOwnerReader('/proc', '/etc/passwd');
  assert.equal((await readOwners([{ pid, startedAt: new Date() }])).get(pid), userInfo().username);
});

test('a user without a name is a number, and a process that has ended has no owner', async (t) => {
  const root = createTree(t, { '7/status': toStatus(1234), passwd: 'root:x:0:0::/root:/bin/sh\n' });
  const readOwners = createOwnerReader(root, join(root, 'passwd'));
  const found = [7, 8].map((pid) => ({ pid, startedAt: old }));
  assert.deepEqual([...(await readOwners(found))], [[7, '1234']]);
  assert.deepEqual([...(await createOwnerReader(root, join(root, 'nothing'))(found))], [[7, '1234']]);
});

test('the owner is read again in the first minute of a process, and when its id is used again', async (t) => {
  const root = createTree(t, { '7/status': toStatus(1), passwd: 'one:x:1:1\ntwo:x:2:2\n' });
  const readOwners = createOwnerReader(root, join(root, 'passwd'));
  const read = async (startedAt: Date) => (await readOwners([{ pid: 7, startedAt }])).get(7);
  const young = new Date();
  assert.deepEqual([await read(young), await read(old)], ['one', 'one']);
  writeFileSync(join(root, '7/status'), toStatus(2));
  assert.equal(await read(old), 'one');
  assert.equal(await read(young), 'two');
});

test('the first name of a user id counts, and damaged lines are ignored', () => {
  const users = parsePasswd('root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:\n\nnobody\n:x:5:5\nweb:x:33:33::/var/www:\n');
  assert.deepEqual([...users].sort(), [
    ['0', 'root'],
    ['33', 'web'],
  ]);
});
