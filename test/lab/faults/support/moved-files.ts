import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Line, readLines } from './compare.ts';

/** Lists the log and all files it was moved to. */
export const listFiles = (dataDir: string): string[] =>
  readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.includes('.jsonl'))
    .map(({ name }) => name);

/** Returns the lines of all these files, in seq order. */
export const readEverything = (dataDir: string): Line[] =>
  listFiles(dataDir)
    .flatMap((name) => readLines(join(dataDir, name)))
    .sort((a, b) => a.seq - b.seq);
