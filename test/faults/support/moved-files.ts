import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Line, readLines } from './compare.ts';

/** The names of the log and of everything that was moved away from it. */
export const listFiles = (dataDir: string): string[] =>
  readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.includes('.jsonl'))
    .map(({ name }) => name);

/** The lines of all these files, in the order of their seq. */
export const readEverything = (dataDir: string): Line[] =>
  listFiles(dataDir)
    .flatMap((name) => readLines(join(dataDir, name)))
    .sort((a, b) => a.seq - b.seq);
