import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../src/server/package-info.ts';
import type { FuzzRequest } from './request.ts';

const folder = join(packageRoot, 'test', 'lab', 'fuzz', 'corpus');

/** Requests, sent in order, that once caused a fault or nearly did. */
export interface Case {
  why: string;
  /** Index of the settings in the list of variants. */
  variant: number;
  requests: FuzzRequest[];
}

/** Returns every stored case, by the name of its file. */
export const readCorpus = (): { name: string; kept: Case }[] =>
  readdirSync(folder).map((name) => ({
    name,
    kept: JSON.parse(readFileSync(join(folder, name), 'utf8')) as Case,
  }));

/** Stores a case. From then on, `npm test` replays it. Returns the path of its file. */
export const keepCase = (name: string, found: Case): string => {
  const path = join(folder, `${name}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify(found, undefined, 2)}\n`);
  return path;
};
