import type { UnitReading } from '../../../host/readings.ts';
import { isLike } from '../../wildcards.ts';
import { defineWatchType, type Finding, findNamed } from '../type.ts';

/** Units that run, or are being started again. */
const running = ['active', 'reloading', 'refreshing', 'activating', 'maintenance'];

/** Whether systemd's units are active, or at least have not failed. */
export const serviceWatch = defineWatchType({
  name: 'service',
  scope: () => 'machine',
  keys: ['units', 'failed'],
  limit: 'none',
  // Each check starts a program.
  every: 30,
  goneWords: (name) => `${name} has no longer failed`,
  findProblem: ({ units, failed }) => (units || failed ? undefined : 'units or failed is needed'),
  check: async ({ units: patterns, failed = false }, { host }) => {
    const units = await host.units();
    // Without systemd, no unit can fail.
    if (units === null && failed) return [];
    if (units === null) throw new Error('systemd does not run on this machine');
    const loaded = units.filter(({ isLoaded }) => isLoaded);
    // Those that have not failed are not listed one by one.
    if (failed) {
      const matches = loaded.filter(({ name }) => !patterns || patterns.some((pattern) => isLike(name, pattern)));
      return matches.filter(({ active }) => active === 'failed').map(toFinding);
    }
    const { found, missing } = findNamed(loaded, (patterns ?? []).map(toUnitName), ({ name }) => name, isLike);
    return [
      ...found.map(toFinding),
      ...missing.map((thing): Finding => ({ thing, isUnknown: true, words: `systemd has no unit ${thing}` })),
    ];
  },
});

/** `nginx` → `nginx.service`, as systemctl does. */
const toUnitName = (name: string): string => (/[.*]/.test(name) ? name : `${name}.service`);

const toFinding = ({ name, active, sub }: UnitReading): Finding => ({
  thing: name,
  isBad: !running.includes(active),
  words: active === 'failed' ? `${name} has failed` : `${name} is ${active} (${sub})`,
});
