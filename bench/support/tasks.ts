import { writeFile } from 'node:fs/promises';

export const newTask = {
  Title: 'Check the backups of volume 42',
  Description: 'Compare the checksums with those of the log.',
  Priority: 'High',
};

/**
 * Numbers of tasks in a seed of any size: as many Critical tasks as fit on one page, spread evenly, and Cancelled tasks
 * at the end.
 */
const [criticalCount, cancelledCount] = [50, 10];

/**
 * Creates the task at a position, counted from 0, of a seed with `count` tasks. All but the Cancelled tasks at the end
 * are Pending or InProgress.
 */
export const createSeedTask = (place: number, count: number): Record<string, string> => {
  const isCritical = place % Math.ceil(count / criticalCount) === 0;
  const status = ['Pending', 'InProgress'][place % 2] ?? '';
  return {
    ...newTask,
    Priority: isCritical ? 'Critical' : (['Low', 'Medium', 'High'][place % 3] ?? ''),
    Status: place >= count - cancelledCount ? 'Cancelled' : status,
    CreatedAt: '2026-01-31T09:30:00',
  };
};

/** Writes a seed file with `count` tasks. */
export const writeSeed = (path: string, count: number): Promise<void> => {
  const tasks = Array.from({ length: count }, (_, place) => createSeedTask(place, count));
  return writeFile(path, JSON.stringify({ tasks }));
};
