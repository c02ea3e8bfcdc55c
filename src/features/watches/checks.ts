import type { CheckReading, CheckSource } from '../../kit/availability.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import { allThings } from './fingerprints.ts';
import type { WatchKeeper } from './kind.ts';
import type { KnownWatch } from './known-watch.ts';
import type { WatchedThing } from './schema.ts';
import type { WatchScope } from './watch-type.ts';
import type { Watcher } from './watcher.ts';

interface CheckParts {
  keeper: WatchKeeper;
  watcher: Pick<Watcher, 'listChecked' | 'onChecked'>;
  leases: Readonly<Record<WatchScope, Pick<Lease, 'isHeld'>>>;
  places: Readonly<Record<WatchScope, string>>;
  /** True once runtime watches have been read. */
  isRead(): boolean;
  clock: () => Date;
}

/** Creates the source of watch states for the availability feature. */
export const createWatchChecks = ({ keeper, watcher, leases, places, isRead, clock }: CheckParts): CheckSource => {
  const scopes = Object.keys(leases) as WatchScope[];
  const scopeOf = ({ type, settings }: KnownWatch): WatchScope => type.scope(settings);
  return {
    kind: 'watch',
    listDefined: () => (isRead() ? keeper.list() : undefined),
    find: (name) => {
      const watch = keeper.find(name);
      return watch && { createdAt: createdAtOf(watch), subject: toSubject(watch, places.machine, scopeOf(watch)) };
    },
    listPlaces: () => scopes.filter((scope) => leases[scope].isHeld()).map((scope) => places[scope]),
    read: (name) => {
      const watch = keeper.find(name);
      if (!watch) return undefined;
      const reading = { createdAt: createdAtOf(watch), place: places[scopeOf(watch)], at: clock().getTime() };
      // A watch with `hosts` runs on those hosts.
      if (watch.settings.enabled === false || watch.settings.hosts) return { ...reading, state: 'unknown' };
      const things = watcher.listChecked(name);
      return things && { ...reading, ...judge(things) };
    },
    onChanged: (listener) => {
      watcher.onChecked(listener);
      keeper.onChanged(() => listener(undefined));
    },
  };
};

const createdAtOf = ({ setting }: KnownWatch): number => setting?.createdAt ?? 0;

/**
 * Judges a watch. It is down if any of its things is down, otherwise unknown if any is unknown. A check that failed as a
 * whole observed none of its things, so the watch is unknown even if an alert still fires.
 */
const judge = (things: readonly WatchedThing[]): Pick<CheckReading, 'state' | 'cause'> => {
  if (things.some(({ thing, state }) => thing === allThings && state === 'cannot check')) return { state: 'unknown' };
  const down = things.filter(({ state }) => state === 'firing');
  if (down.length > 0) return { state: 'down', cause: down.map(({ text }) => text).join('; ') };
  return { state: things.every(({ state }) => state === 'ok' || state === 'pending') ? 'up' : 'unknown' };
};

const toSubject = ({ name, settings, type }: KnownWatch, machine: string, scope: WatchScope) => ({
  source: `watch/${name}`,
  hostname: scope === 'network' ? '' : machine,
  level: settings.level ?? type.defaultLevel ?? 'WARNING',
  text: settings.message ?? '',
  labels: { watch: name, type: type.name },
});
