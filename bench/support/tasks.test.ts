import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../test/support/folder.ts';
import { createSeedTask, writeSeed } from './tasks.ts';

const count = 10_000;
const tasks = Array.from({ length: count }, (_, place) => createSeedTask(place, count));

const listPlaces = (field: string, value: string): number[] =>
  tasks.flatMap((task, place) => (task[field] === value ? [place] : []));

test('the last ten tasks of a seed are cancelled, and half of the others are pending', () => {
  assert.deepEqual(
    listPlaces('Status', 'Cancelled'),
    Array.from({ length: 10 }, (_, place) => count - 10 + place),
  );
  assert.equal(listPlaces('Status', 'Pending').length, (count - 10) / 2);
});

test('fifty tasks of a seed are critical and evenly spread', () => {
  const places = listPlaces('Priority', 'Critical');
  assert.deepEqual([places.length, places[1], places.at(-1)], [50, 200, 9800]);
});

test('a seed file of any size holds all its tasks', async (t) => {
  const path = join(createFolder(t), 'seed.json');
  for (const size of [0, 1, 1000]) {
    await writeSeed(path, size);
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).tasks.length, size);
  }
});
