import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Thrown by a row that cannot be measured here, for example without a program; any other error is a failure. */
export class NotMeasurable extends Error {}

/** The programs used for measuring or comparing, with the Debian packages that provide each. */
const packages: Record<string, string> = {
  wrk: 'wrk',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  webhook: 'webhook',
  pgbench: 'postgresql-contrib',
  glances: 'glances python3-bottle',
};

/** The path of a program; undefined if it is not installed. */
export const findProgram = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, name)).find(isExecutable);

/** The path of a program; throws a NotMeasurable that names its package. */
export const requireProgram = (name: string): string => {
  const path = findProgram(name);
  if (path !== undefined) return path;
  throw new NotMeasurable(`${name} is not installed: apt-get install ${packages[name] ?? name}`);
};

/** The versions of Debian's packages, such as `wrk 4.1.0-3`. */
export const readVersions = (): string[] => {
  const names = Object.keys(packages).flatMap((name) => packages[name]?.split(' ')[0] ?? []);
  const { stdout } = spawnSync('dpkg-query', ['-W', ...names], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => line.replace('\t', ' ') || []);
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
