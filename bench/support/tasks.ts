import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** The task that is created again and again. */
export const newTask = {
  Title: 'Check the backups of volume 42',
  Description: 'Compare the checksums with those of the log.',
  Priority: 'High',
};

/** How many tasks are Critical in a seed of any size: as many as one answer holds, spread over all. */
const criticalCount = 50;
/** How many are Cancelled: the last ones. */
const cancelledCount = 10;
const atOnce = 1000;

/**
 * The task at a place, from 0, of a seed of so many: every second is Pending, the others InProgress but for the
 * last ten, which are Cancelled; fifty, evenly spread, are Critical, the others have the other priorities in turn.
 */
export const createSeedTask = (place: number, count: number): Record<string, string> => ({
  ...newTask,
  Priority: toPriority(place, count),
  Status: toStatus(place, count),
  CreatedAt: '2026-01-31T09:30:00',
});

const toPriority = (place: number, count: number): string =>
  place % Math.ceil(count / criticalCount) === 0 ? 'Critical' : (['Low', 'Medium', 'High'][place % 3] ?? '');

const toStatus = (place: number, count: number): string => {
  if (place >= count - cancelledCount) return 'Cancelled';
  return place % 2 === 0 ? 'Pending' : 'InProgress';
};

/** Writes a seed file of so many tasks. */
export const writeSeed = async (path: string, count: number): Promise<void> => {
  const stream = createWriteStream(path);
  stream.write('{"tasks":[');
  for (let place = 0; place < count; ) {
    const end = Math.min(count, place + atOnce);
    const texts: string[] = [];
    for (; place < end; place += 1) texts.push(JSON.stringify(createSeedTask(place, count)));
    if (!stream.write(`${texts.join(',')}${place < count ? ',' : ''}`)) await once(stream, 'drain');
  }
  stream.end(']}');
  await finished(stream);
};
