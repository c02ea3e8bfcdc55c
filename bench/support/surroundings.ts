import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot, version } from '../../src/app/package-info.ts';
import type { Cores } from './cores.ts';
import { measureSyncs } from './disk.ts';
import { readVersions } from './programs.ts';

interface Run {
  /** The npm script with its arguments. */
  words: readonly string[];
  cores: Cores | undefined;
  /** A folder on the disk that the rows write to. */
  folder: string;
}

/** Begins a run; the returned function returns its date, commit, machine and programs, one line each. */
export const describeRun = ({ words: [script, ...words], cores, folder }: Run): (() => string[]) => {
  const began = new Date();
  const [before = 0] = loadavg();
  const syncs = measureSyncs(folder);
  const id = `${readCommit()}-${began.toISOString().slice(0, 16).replaceAll(/\D/g, '')}`;
  return () => [
    `Run ${id}: signalbox ${version}, commit ${readCommit()}, ${began.toISOString().slice(0, 16)}Z, ${Math.round((Date.now() - began.getTime()) / 1000)} s, by \`npm run ${script}${words.length === 0 ? '' : ` -- ${words.join(' ')}`}\`.`,
    `Machine: ${describeMachine()}; load average before the run ${before.toFixed(1)}; disk ${Math.round(syncs).toLocaleString('en')} fdatasync of 4 KiB a second.`,
    `Versions: ${[`Node.js ${process.versions.node}`, ...listVersions()].join(', ')}.`,
    `Load: wrk; ${describeCores(cores)}.`,
  ];
};

const describeMachine = (): string => {
  const all = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  return `${all.length} × ${all[0]?.model.trim() ?? 'processor'}, ${memory}, Linux ${release()}`;
};

const describeCores = (cores: Cores | undefined): string =>
  cores
    ? `servers on processor ${cores.server}, load on processor ${cores.load}`
    : 'servers and load on the same processors';

const listVersions = (): string[] => [
  ...['json-server'].map((name) => {
    const manifest = join(packageRoot, 'node_modules', name, 'package.json');
    return `${name} ${JSON.parse(readFileSync(manifest, 'utf8')).version}`;
  }),
  ...readVersions(),
];

const readCommit = (): string => {
  try {
    const options = { cwd: packageRoot, encoding: 'utf8' } as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], options).trim();
  } catch {
    return 'unknown';
  }
};
