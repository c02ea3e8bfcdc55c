import { setTimeout } from 'node:timers/promises';
import { readTimeOf } from '../../../host/reading.ts';
import type { ProcessReading } from '../../../host/readings.ts';
import { MiB } from '../../../lib/units.ts';
import { createLikeTest } from '../../../lib/wildcards.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, toPercentText } from '../watch-type.ts';

/** CPU time at the previous check, by watch. Used only for the measure `cpu`. */
const previous = new WeakMap<WatchSettings, { at: number; seconds: Map<string, number> }>();

/** Duration of the first measurement, in milliseconds. */
const firstMs = 500;

/** Counts the processes with a name. With `metric`, also measures their memory or CPU time. */
export const processWatch = defineWatchType({
  name: 'process',
  scope: () => 'machine',
  keys: ['process', 'user', 'min', 'max', 'metric'],
  required: ['process'],
  limit: 'optional',
  every: 30,
  findProblem: ({ metric, limit, min = 1, max = min }) => {
    if (metric !== undefined && metric !== 'memory' && metric !== 'cpu') return 'metric must be memory or cpu';
    if ((metric === undefined) !== (limit === undefined)) return 'metric and limit must be set together';
    return max < min ? 'max must be at least min' : undefined;
  },
  check: async (watch, { host, shared }) => {
    const { process: pattern = '', user, min = 1, max, metric } = watch;
    const reading = await shared.processes();
    const isWanted = createLikeTest(pattern);
    let found = reading.filter(({ name }) => isWanted(name));
    if (user !== undefined) {
      const owners = await host.processOwners(found);
      found = found.filter(({ pid }) => owners.get(pid) === user);
    }
    const { length } = found;
    const of = user === undefined ? pattern : `${pattern} of ${user}`;
    const wanted = max === undefined ? `at least ${min}` : `${min} to ${max}`;
    const counted: Finding = {
      thing: pattern,
      isBad: length < min || length > (max ?? length),
      figure: length,
      words: `${length} ${length === 1 ? 'process' : 'processes'} named ${of} (expected: ${wanted})`,
    };
    if (metric === undefined || length === 0) return [counted];
    if (metric === 'memory') return [counted, measureMemory(pattern, found)];
    if (!previous.has(watch)) {
      measureCpu(watch, found, readTimeOf(reading));
      await setTimeout(firstMs);
      const names = new Set(found.map(keyOf));
      const next = await host.processes();
      const measured = next.filter((each) => names.has(keyOf(each)));
      return [counted, measureCpu(watch, measured, readTimeOf(next))];
    }
    return [counted, measureCpu(watch, found, readTimeOf(reading))];
  },
});

const measureMemory = (pattern: string, found: readonly ProcessReading[]): Finding => {
  const used = found.reduce((sum, { workingSetBytes }) => sum + workingSetBytes, 0) / MiB;
  const toText = (figure: number): string => `${Math.floor(figure)} MiB`;
  return { thing: `${pattern} memory`, figure: used, toText, words: `${pattern} uses ${toText(used)} of memory` };
};

const keyOf = ({ pid, startedAt }: ProcessReading): string => `${pid} ${startedAt?.getTime()}`;

const measureCpu = (watch: WatchSettings, found: readonly ProcessReading[], at: number): Finding => {
  const secondsOf = ({ userSeconds, kernelSeconds }: ProcessReading): number =>
    (userSeconds ?? 0) + (kernelSeconds ?? 0);
  const last = previous.get(watch);
  const seconds = new Map(found.map((each) => [keyOf(each), secondsOf(each)]));
  previous.set(watch, { at, seconds });
  const thing = `${watch.process} cpu`;
  const toText = toPercentText;
  let used = 0;
  // A new process has used all of its time since the previous check.
  if (last) for (const [key, now] of seconds) used += Math.max(0, now - (last.seconds.get(key) ?? 0));
  const percent = last ? (100_000 * used) / Math.max(1, at - last.at) : 0;
  return { thing, figure: percent, toText, words: `${watch.process} uses ${toText(percent)} of a CPU` };
};
