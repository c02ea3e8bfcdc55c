import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reading, toReading } from './slow-readers.ts';

const waiting: Reading = { taken: 100, isWaiting: true, since: 1000 };

test('while bytes wait and none is taken, the time counts from when that was first seen', () => {
  assert.deepEqual(toReading({ bytesWritten: 150, writableLength: 50 }, undefined, 1000), waiting);
  assert.deepEqual(toReading({ bytesWritten: 150, writableLength: 50 }, waiting, 9000), waiting);
  // More was added, and nothing taken.
  assert.deepEqual(toReading({ bytesWritten: 180, writableLength: 80 }, waiting, 9000), waiting);
});

test('a byte that is taken begins the time anew, and nothing that waits means no time', () => {
  assert.deepEqual(toReading({ bytesWritten: 150, writableLength: 49 }, waiting, 9000), {
    taken: 101,
    isWaiting: true,
    since: 9000,
  });
  const idle = toReading({ bytesWritten: 100, writableLength: 0 }, waiting, 9000);
  assert.deepEqual(idle, { taken: 100, isWaiting: false, since: 9000 });
  assert.equal(toReading({ bytesWritten: 110, writableLength: 10 }, idle, 10_000).since, 10_000);
});
