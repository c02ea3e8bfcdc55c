import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Counts } from '../../app/transfer.ts';
import type { Flags } from '../../config/load.ts';
import { isSettingsError, SettingsError } from '../../config/settings-error.ts';
import { defineCommand } from '../command.ts';
import { say } from '../messages.ts';

export const exportStore = defineCommand({
  name: 'export',
  summary: 'Print all tasks, items, alerts and audit records of the store as JSON lines; stop the server first.',
  settings: 'all',
  exitCodes: {
    0: 'success',
    1: 'the store cannot be read, or a part of it is damaged and was left out',
    2: 'the command line is invalid',
  },
  run: async ({ flags }) => {
    const { settings, transfers, parts } = await load(flags);
    const { exportLines } = await parts.transfer();
    const counts: Counts = {};
    let isWhole = true;
    const pieces = exportLines(settings, transfers, counts, (problem) => {
      isWhole = false;
      say(`damaged, left out: ${problem}`);
    });
    try {
      await pipeline(Readable.from(pieces), process.stdout, { end: false });
    } catch (error) {
      if (isSettingsError(error)) throw error;
      throw new SettingsError([`the export could not be written: ${(error as Error).message}`]);
    }
    say(`exported ${describe(counts)}`);
    return isWhole ? 0 : 1;
  },
});

export const importStore = defineCommand({
  name: 'import',
  summary: 'Store what export has printed, from standard input, in an empty store.',
  settings: 'all',
  exitCodes: { 0: 'success', 1: 'nothing was stored', 2: 'the command line is invalid' },
  run: async ({ flags }) => {
    const { settings, transfers, parts } = await load(flags);
    const { importLines } = await parts.transfer();
    say(`imported ${describe(await importLines(settings, transfers, process.stdin))}`);
    return undefined;
  },
});

const load = async (flags: Flags) => {
  const { features, loadSettings, parts, schema } = await import('../program.ts');
  const transfers = features.flatMap(({ transfer }) => transfer ?? []);
  return { settings: loadSettings(schema, flags), transfers, parts };
};

const describe = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([key]) => !key.startsWith('last'))
    .map(([key, count]) => `${key} ${count}`)
    .join(', ') || 'nothing';
