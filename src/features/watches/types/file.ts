import { findFiles } from '../../../host/files.ts';
import { hourMs } from '../../../lib/units.ts';
import { defineWatchType, toBytesText } from '../watch-type.ts';

const toHours = (ms: number): string => {
  const hours = ms / hourMs;
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours.toFixed(1)} h`;
};

/** Checks that a file exists, and that the newest matching file is recent and large enough. */
export const fileWatch = defineWatchType({
  name: 'file',
  scope: () => 'machine',
  keys: ['path', 'maxAgeHours', 'minBytes'],
  required: ['path'],
  limit: 'none',
  every: 60,
  check: async ({ path = '', maxAgeHours = Number.POSITIVE_INFINITY, minBytes = 0 }, { clock }) => {
    const found = await findFiles(path).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${error.path ?? path} cannot be read (${error.code ?? error.message})`);
    });
    const [newest] = found.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
    if (!newest) return [{ thing: path, isBad: true, words: `there is no file ${path}` }];
    const age = clock().getTime() - newest.changedAt.getTime();
    const faults = [
      ...(age > maxAgeHours * hourMs ? [`is ${toHours(age)} old (limit ${maxAgeHours} h)`] : []),
      ...(newest.bytes < minBytes
        ? [`has ${toBytesText(newest.bytes)} (expected: at least ${toBytesText(minBytes)})`]
        : []),
    ];
    const fine = `is ${toHours(age)} old and has ${toBytesText(newest.bytes)}`;
    const words = `${newest.path} ${faults.join(' and ') || fine}`;
    return [{ thing: path, isBad: faults.length > 0, words }];
  },
});
