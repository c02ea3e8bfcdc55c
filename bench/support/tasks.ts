import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** The task that is created repeatedly. */
export const newTask = {
  Title: 'Check the backups of volume 42',
  Description: 'Compare the checksums with those of the log.',
  Priority: 'High',
};

/** The number of Critical tasks in a seed of any size: as many as one page holds, spread evenly. */
const criticalCount = 50;
/** The number of Cancelled tasks, at the end. */
const cancelledCount = 10;
const atOnce = 1000;

/**
 * The task at a position, from 0, of a seed with `count` tasks. Every second one is Pending and the others InProgress,
 * except for the last ten, which are Cancelled. Fifty evenly spread tasks are Critical; the others have the other
 * priorities in turn.
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

/** Writes a seed file with `count` tasks. */
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
