import type { UnitReading } from '../../../host/readings.ts';
import { createLikeTest } from '../../../lib/wildcards.ts';
import { defineWatchType, type Finding, findNamed, isExcepted } from '../watch-type.ts';

/** States of units that are running or starting. */
const runningStates = ['active', 'reloading', 'refreshing', 'activating', 'maintenance'];

/** Checks that systemd units are active, or have not failed. */
export const serviceWatch = defineWatchType({
  name: 'service',
  scope: () => 'machine',
  keys: ['units', 'failed', 'except'],
  limit: 'none',
  every: 30,
  describeGone: (name) => `${name} is no longer in the failed state`,
  findProblem: ({ units, failed }) => (units || failed ? undefined : 'set units or failed'),
  check: async (watch, { host }) => {
    const { units: patterns, failed = false } = watch;
    const units = await host.units();
    if (units === null) throw new Error('systemd is not running on this machine');
    const loaded = units.filter(({ isLoaded, name }) => isLoaded && !isExcepted(watch, name));
    const names = patterns?.map(toUnitName);
    // Only failed units are things of this watch.
    if (failed) {
      const tests = names?.map(createLikeTest);
      const matches = loaded.filter(({ name }) => !tests || tests.some((isMatch) => isMatch(name)));
      return matches.filter(({ active }) => active === 'failed').map(toFinding);
    }
    const { found, missing } = findNamed(loaded, names ?? [], ({ name }) => name);
    return [
      ...found.map(toFinding),
      ...missing.map((thing): Finding => ({ thing, isUnknown: true, words: `systemd has no unit ${thing}` })),
    ];
  },
});

/** Suffixes of units. See systemd.unit(5). */
const unitSuffix = /\.(?:service|socket|device|mount|automount|swap|target|path|timer|slice|scope)$/;

/** Adds the suffix of a service, as systemctl does: `nginx` → `nginx.service`. */
const toUnitName = (name: string): string => (unitSuffix.test(name) || name.includes('*') ? name : `${name}.service`);

const toFinding = ({ name, active, sub }: UnitReading): Finding => ({
  thing: name,
  isBad: !runningStates.includes(active),
  words: active === 'failed' ? `${name} has failed` : `${name} is ${active} (${sub})`,
});
