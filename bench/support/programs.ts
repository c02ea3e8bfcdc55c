import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { NotMeasurable } from './not-measurable.ts';

/** Programs beside Node that are measured with, or measured, by the Debian package that has them. */
const packages: Record<string, string> = {
  wrk: 'wrk',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  webhook: 'webhook',
  glances: 'glances python3-bottle',
};

/** The path of a program; undefined where there is none. */
export const findProgram = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, name)).find(isExecutable);

/** The path of a program; throws a NotMeasurable that says how to get it. */
export const requireProgram = (name: string): string => {
  const path = findProgram(name);
  if (path !== undefined) return path;
  throw new NotMeasurable(`${name} is not installed: apt-get install ${packages[name] ?? name}`);
};

/** What the programs that are there call their version, `wrk 4.1.0`; `home` is where they may write. */
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
