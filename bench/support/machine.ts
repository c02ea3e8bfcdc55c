import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, statfsSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { packageRoot, programVersion } from '../../src/server/package-info.ts';

/** Error for a row that cannot be measured here, e.g. because a program is missing. Other errors are failures. */
export class NotMeasurable extends Error {}

/** Programs used for measuring or comparing, with their Debian packages. */
const packages: Record<string, string> = {
  wrk: 'wrk',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  webhook: 'webhook',
  pgbench: 'postgresql-contrib',
  glances: 'glances python3-bottle',
};

const findProgram = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, name)).find(existsSync);

/** Returns the path of a program. Throws a NotMeasurable that names its package. */
export const requireProgram = (name: string): string => {
  const path = findProgram(name);
  if (path !== undefined) return path;
  throw new NotMeasurable(`${name} is not installed: apt-get install ${packages[name] ?? name}`);
};

/**
 * Returns the first and the last processor in a list such as `0-2,5`, because these rarely share a core. Undefined for
 * fewer than two processors.
 */
export const parseCores = (list: string): { server: string; load: string } | undefined => {
  const [server = '', ...others] = list.match(/\d+/g) ?? [];
  const load = others.at(-1);
  return load === undefined ? undefined : { server, load };
};

const allowed = /^Cpus_allowed_list:(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
const cores = findProgram('taskset') === undefined ? undefined : parseCores(allowed);

/** Processor that a program runs on: the processor for servers, the processor for loads, or any processor. */
export type Place = 'server' | 'load' | 'any';

/**
 * Pins a command line to a processor. Returns it unchanged if there is only one processor or no program for pinning.
 */
export const pin = (place: Place, command: string[], own = cores): string[] =>
  own === undefined || place === 'any' ? command : ['taskset', '--cpu-list', own[place], ...command];

/** Type numbers of in-memory file systems, from statfs(2). */
const inMemory = [0x01021994, 0x858458f6];

/** Throws a NotMeasurable if a folder is in memory, where syncing is free, or has less free space than `bytes`. */
export const requireDisk = (folder: string, bytes = 0): void => {
  const { type, bavail, bsize } = statfsSync(folder);
  const problem = inMemory.includes(type) ? 'is in memory' : `has less than ${bytes / 1e9} GB`;
  if (!inMemory.includes(type) && bavail * bsize >= bytes) return;
  throw new NotMeasurable(`${folder} ${problem}: name a folder with --folder`);
};

/** Measures for two seconds how many times per second 4 KiB can be appended to a file and synced. */
const measureSyncs = (folder: string): number => {
  const file = openSync(join(folder, 'syncs'), 'w');
  const end = performance.now() + 2000;
  let count = 0;
  for (; performance.now() < end; count += 1) {
    writeSync(file, Buffer.alloc(4096));
    fdatasyncSync(file);
  }
  closeSync(file);
  return count / 2;
};

/** Starts the record of a run. The returned function returns the date, commit, machine and programs, one per line. */
export const describeRun = (command: string, folder: string): (() => string[]) => {
  const began = new Date();
  const minute = began.toISOString().slice(0, 16);
  const load = loadavg()[0]?.toFixed(1);
  const syncs = Math.round(measureSyncs(folder)).toLocaleString('en');
  const commit = readCommit();
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const pinned = cores ? `servers on processor ${cores.server}, load on processor ${cores.load}` : 'nothing is pinned';
  return () => [
    `Run ${commit}-${minute.replaceAll(/\D/g, '')}: signalbox ${programVersion}, commit ${readCommit()}, ${minute}Z, ${Math.round((Date.now() - began.getTime()) / 1000)} s, by \`${command}\`.`,
    `Machine: ${machine} of memory, Linux ${release()}; load average before the run ${load}; disk ${syncs} fdatasync of 4 KiB a second.`,
    `Versions: Node.js ${process.versions.node}, ${listVersions().join(', ')}.`,
    `Load: wrk; ${pinned}.`,
  ];
};

/** Lists the versions of json-server and of Debian packages, such as `wrk 4.1.0-3`. */
const listVersions = (): string[] => {
  const manifest = readFileSync(join(packageRoot, 'node_modules', 'json-server', 'package.json'), 'utf8');
  const names = Object.values(packages).map((list) => list.split(' ')[0] ?? '');
  const { stdout } = spawnSync('dpkg-query', ['-W', ...names], { encoding: 'utf8' });
  const lines = (stdout ?? '').split('\n').filter(Boolean);
  return [`json-server ${JSON.parse(manifest).version}`, ...lines.map((line) => line.replace('\t', ' '))];
};

const readCommit = (): string => {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: packageRoot, encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
};
