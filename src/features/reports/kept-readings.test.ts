import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { createReplacedFile } from '../../storage/replaced-file.ts';
import { KeptReadings } from './kept-readings.ts';

const start = Date.parse('2026-01-31T12:00:00Z');

test('readings that the hub does not get are kept on disk as means of minutes, and removed once they are delivered', async (t) => {
  const file = createReplacedFile(createFolder(t), 'hub.readings');
  const kept = new KeptReadings(file);
  await kept.load();
  for (let index = 0; index < 12; index += 1) await kept.add(start + index * 10_000, { cpu: index / 10 });
  assert.equal(kept.count, 1);
  await kept.flush();
  const again = new KeptReadings(file);
  await again.load();
  assert.deepEqual(
    again.first(60).map(({ time, readings: { cpu } }) => [time, Number(cpu?.toFixed(3))]),
    [
      ['2026-01-31T12:00:00.000Z', 0.25],
      ['2026-01-31T12:01:00.000Z', 0.85],
    ],
  );
  await again.remove(again.first(1));
  assert.equal(again.count, 1);
});

test('at most 24 hours of readings are kept', async (t) => {
  const kept = new KeptReadings(createReplacedFile(createFolder(t), 'hub.readings'));
  await kept.load();
  for (let minute = 0; minute < 1450; minute += 1) {
    await kept.add(start + minute * 60_000, { cpu: 0.5 });
  }
  await kept.flush();
  assert.equal(kept.count, 1440);
  assert.equal(kept.first(1)[0]?.time, '2026-01-31T12:10:00.000Z');
});
