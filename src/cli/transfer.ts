import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportStore } from '../app/transfer/export.ts';
import { importStore } from '../app/transfer/import.ts';
import type { Counts } from '../app/transfer/lines.ts';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import { features } from '../profiles/index.ts';
import { escapeControls } from './log.ts';

const transfers = features.flatMap(({ transfer }) => transfer ?? []);

/** Prints what the configured store holds; resolves to whether everything could be read. Throws a SettingsError. */
export const printExport = async (settings: Settings): Promise<boolean> => {
  const counts: Counts = {};
  let isWhole = true;
  const pieces = exportStore(settings, transfers, counts, (problem) => {
    isWhole = false;
    say(`damaged, left out: ${problem}`);
  });
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false });
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError([`the export could not be written: ${(error as Error).message}`]);
  }
  say(`exported ${describe(counts)}`);
  return isWhole;
};

/** Stores the export that standard input has. Throws a SettingsError; nothing was stored then. */
export const readImport = async (settings: Settings): Promise<void> => {
  say(`imported ${describe(await importStore(settings, transfers, process.stdin))}`);
};

const describe = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([key]) => !key.startsWith('last'))
    .map(([key, count]) => `${key} ${count}`)
    .join(', ') || 'nothing';

const say = (text: string): void => {
  process.stderr.write(`signalbox: ${escapeControls(text)}\n`);
};
