import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot, version } from '../../src/app/package-info.ts';
import type { Arguments } from './arguments.ts';
import type { Cores } from './cores.ts';
import { findProgram, readVersions } from './programs.ts';

interface Run {
  args: Arguments;
  /** The arguments after `npm run bench --`. */
  words: readonly string[];
  cores: Cores | undefined;
  /** A folder that programs may write to when asked for their version. */
  folder: string;
  began: Date;
  /** The machine's load average before the run added to it. */
  loadBefore: readonly number[];
}

/** Date, machine, programs and settings of a run. */
export const describeRun = ({ args, words, cores, folder, began, loadBefore }: Run): string[] => [
  ...describeOccasion(['bench', ...words], began, loadBefore),
  `Versions: ${[...describeOurs(), ...listVersions(folder)].join(', ')}.`,
  `Load: ${findProgram('wrk') ? 'wrk' : 'autocannon, since wrk is not installed; it is slower than what it measures, so ratios are too near to 1'}; ${describeCores(cores)}.`,
  `Rounds: ${args.rounds} of ${args.seconds} s for each side, in turns; medians. A ratio is the median of the rounds' own ratios.`,
];

/** Date, npm script with its arguments, and machine of a measurement. */
export const describeOccasion = (
  [script, ...words]: readonly string[],
  began: Date,
  loadBefore: readonly number[],
): string[] => [
  `Date: ${began.toISOString().slice(0, 10)}; it took ${Math.round((Date.now() - began.getTime()) / 1000)} s.`,
  `Command: \`npm run ${script}${words.length === 0 ? '' : ` -- ${words.join(' ')}`}\`.`,
  `Machine: ${describeMachine()}; load average before the run ${loadBefore.map((load) => load.toFixed(1)).join(', ')}.`,
];

/** The versions of the program and its runtime. */
export const describeOurs = (): string[] => [
  `signalbox ${version} (${readCommit()})`,
  `Node.js ${process.versions.node}`,
];

const describeMachine = (): string => {
  const all = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  return `${all.length} × ${all[0]?.model.trim() ?? 'processor'}, ${memory}, Linux ${release()}`;
};

const describeCores = (cores: Cores | undefined): string =>
  cores
    ? `servers on processor ${cores.server}, load on processor ${cores.load}`
    : 'servers and load on the same processors';

const listVersions = (folder: string): string[] => [
  ...['json-server', 'autocannon'].map((name) => {
    const manifest = join(packageRoot, 'node_modules', name, 'package.json');
    return `${name} ${JSON.parse(readFileSync(manifest, 'utf8')).version}`;
  }),
  ...readVersions(folder),
];

const readCommit = (): string => {
  try {
    const options = { cwd: packageRoot, encoding: 'utf8' } as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], options).trim();
  } catch {
    return 'no commit';
  }
};
