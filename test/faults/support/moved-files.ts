import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Line, readLines } from './compare.ts';

/** The names of the log and of all files it was moved to. */
export const listFiles = (dataDir: string): string[] =>
  readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.includes('.jsonl'))
    .map(({ name }) => name);

/** The lines of all these files, in order of seq. */
export const readEverything = (dataDir: string): Line[] =>
  listFiles(dataDir)
    .flatMap((name) => readLines(join(dataDir, name)))
    .sort((a, b) => a.seq - b.seq);
