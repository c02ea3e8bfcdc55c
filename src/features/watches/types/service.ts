import type { UnitReading } from '../../../host/readings.ts';
import { createLikeTest } from '../../../lib/wildcards.ts';
import { defineWatchType, type Finding, findNamed, isExcepted } from '../type.ts';

/** Units that run, or are being started again. */
const running = ['active', 'reloading', 'refreshing', 'activating', 'maintenance'];

/** Whether systemd's units are active, or at least have not failed. */
export const serviceWatch = defineWatchType({
  name: 'service',
  scope: () => 'machine',
  keys: ['units', 'failed', 'except'],
  limit: 'none',
  // Each check starts a program.
  every: 30,
  goneWords: (name) => `${name} has no longer failed`,
  findProblem: ({ units, failed }) => (units || failed ? undefined : 'units or failed is needed'),
  check: async (watch, { host }) => {
    const { units: patterns, failed = false } = watch;
    const units = await host.units();
    if (units === null) throw new Error('systemd does not run on this machine');
    const loaded = units.filter(({ isLoaded, name }) => isLoaded && !isExcepted(watch, name));
    const names = patterns?.map(toUnitName);
    // Those that have not failed are not listed one by one.
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

/** Kinds of units, see systemd.unit(5). */
const unitSuffix = /\.(?:service|socket|device|mount|automount|swap|target|path|timer|slice|scope)$/;

/** `nginx` → `nginx.service` and `openvpn@site.example` → `openvpn@site.example.service`, as systemctl does. */
const toUnitName = (name: string): string => (unitSuffix.test(name) || name.includes('*') ? name : `${name}.service`);

const toFinding = ({ name, active, sub }: UnitReading): Finding => ({
  thing: name,
  isBad: !running.includes(active),
  words: active === 'failed' ? `${name} has failed` : `${name} is ${active} (${sub})`,
});
