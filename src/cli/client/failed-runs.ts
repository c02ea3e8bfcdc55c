import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../storage/replace-file.ts';
import { createStateFolder, findStateFolder } from './state-folder.ts';

/** Failed runs that are remembered; the oldest is forgotten first. */
const mostRuns = 1000;

const name = 'failed-runs';

/** Whether the last run of a command, known by the key of its alerts, was reported as failed to the server. */
export const hasFailed = (url: string, key: string): boolean => {
  const folder = findStateFolder(name);
  return folder !== undefined && existsSync(toPath(folder, url, key));
};

/** Remembers that a failure was reported, so a later success resolves it. Throws an Error if it cannot be remembered. */
export const rememberFailure = (url: string, key: string): void => {
  const folder = createStateFolder(name);
  const path = toPath(folder, url, key);
  replaceFile(path, JSON.stringify({ url, key }));
  const files = readdirSync(folder).map((file) => join(folder, file));
  if (files.length <= mostRuns) return;
  const readTime = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const [oldest] = files.toSorted((a, b) => readTime(a) - readTime(b));
  if (oldest !== undefined && oldest !== path) rmSync(oldest, { force: true });
};

export const forgetFailure = (url: string, key: string): void => {
  const folder = findStateFolder(name);
  if (folder !== undefined) rmSync(toPath(folder, url, key), { force: true });
};

const toPath = (folder: string, url: string, key: string): string =>
  join(folder, `${createHash('sha256').update(`${url}\n${key}`).digest('hex').slice(0, 32)}.json`);
