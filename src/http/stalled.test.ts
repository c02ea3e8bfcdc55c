import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStalled, type Progress, toProgress } from './stalled.ts';

const waiting: Progress = { read: 10, taken: 100, isWaiting: true, since: 1000, silentSince: 1000 };
const quiet: Progress = { read: 10, taken: 100, isWaiting: false, since: 1000, silentSince: 1000 };

test('while bytes wait and none is taken, the time counts from when that was first seen', () => {
  const socket = { bytesRead: 10, bytesWritten: 150, writableLength: 50 };
  assert.deepEqual(toProgress(socket, undefined, 1000), waiting);
  assert.deepEqual(toProgress(socket, waiting, 9000), waiting);
  // More was added, and nothing taken.
  assert.deepEqual(toProgress({ ...socket, bytesWritten: 180, writableLength: 80 }, waiting, 9000), waiting);
});

test('what comes in while bytes wait does not begin their time anew', () => {
  const socket = { bytesRead: 11, bytesWritten: 150, writableLength: 50 };
  assert.deepEqual(toProgress(socket, waiting, 9000), { ...waiting, read: 11, silentSince: 9000 });
});

test('a byte that is taken begins the time anew, and nothing that waits means no time', () => {
  const taken = toProgress({ bytesRead: 10, bytesWritten: 150, writableLength: 49 }, waiting, 9000);
  assert.deepEqual(taken, { read: 10, taken: 101, isWaiting: true, since: 9000, silentSince: 9000 });
  const idle = toProgress({ bytesRead: 10, bytesWritten: 100, writableLength: 0 }, waiting, 9000);
  assert.deepEqual(idle, { ...quiet, since: 9000 });
  assert.equal(
    toProgress({ bytesRead: 10, bytesWritten: 110, writableLength: 10 }, idle, 10_000).since,
    10_000,
  );
});

test('a connection is stalled when its client takes nothing for longer than it may', () => {
  assert.equal(isStalled(waiting, 30_000, 31_000), false);
  assert.equal(isStalled(waiting, 30_000, 31_001), true);
});

test('a connection with nothing to send is stalled when nothing has moved for more than a minute', () => {
  assert.equal(isStalled(quiet, 30_000, 61_000), false);
  assert.equal(isStalled(quiet, 30_000, 61_001), true);
  const socket = { bytesRead: 10, bytesWritten: 100, writableLength: 0 };
  assert.equal(toProgress(socket, quiet, 50_000).silentSince, 1000);
  assert.equal(toProgress({ ...socket, bytesRead: 11 }, quiet, 50_000).silentSince, 50_000);
});
