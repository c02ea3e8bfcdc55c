import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Thrown by a row that cannot be measured here, for example without a program; any other error is a failure. */
export class NotMeasurable extends Error {}

/** The programs used for measuring or comparing, with the Debian package that provides each. */
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

/** The versions of the installed programs, such as `wrk 4.1.0`; `home` is a folder they may write to. */
export const readVersions = (home: string): string[] =>
  Object.keys(packages).flatMap((name) => {
    const path = findProgram(name);
    if (path === undefined) return [];
    const flag = { webhook: '-version', wrk: '-v' }[name] ?? '--version';
    const { stdout, stderr } = spawnSync(path, [flag], { encoding: 'utf8', env: { HOME: home } });
    return [`${name} ${/\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? ''}`];
  });

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
