import type { WatchRunner } from './runner.ts';
import type { WatchScope } from './watch-type.ts';

/** Number of checks that must not work before a common cause is assumed. */
const minCount = 3;

/** Maximum milliseconds for which an alert waits for the results of other checks. */
const maxWaitMs = 90_000;

/** Checks of a scope that do not work, with the number of all its checks. */
export interface UnknownChecks {
  scope: WatchScope;
  unknown: number;
  all: number;
  /** Reason given by one of the checks that do not work. */
  reason: string;
  /** True if most checks do not work. The cause is then this machine or its network, not the watched objects. */
  isMost: boolean;
}

interface Checked {
  runner: WatchRunner;
  checkedAt: number | undefined;
}

type Scoped = Pick<WatchRunner['watch'], 'type' | 'settings'>;

const scopeOf = ({ type, settings }: Scoped): WatchScope => type.scope(settings);

/** Scopes whose checks may have a common cause: the network of this server, and this machine. */
const scopes: readonly WatchScope[] = ['network', 'machine'];

/** Counts the checks that do not work, by scope. */
export const countUnknown = (active: Iterable<Checked>): UnknownChecks[] => {
  const all = [...active].map(({ runner }) => runner).filter(({ watch }) => !watch.isVote);
  return scopes.flatMap((scope) => {
    const own = all.filter(({ watch }) => scopeOf(watch) === scope);
    const unknown = own.filter(({ isUnknown }) => isUnknown);
    const reason = unknown[0]?.list()[0]?.text ?? '';
    const isMost = unknown.length >= minCount && unknown.length * 2 > own.length;
    return own.length === 0 ? [] : [{ scope, unknown: unknown.length, all: own.length, reason, isMost }];
  });
};

/**
 * True if an alert about a check that has not worked since a monotonic time is held back. It is held back while most
 * checks in its scope do not work, and until all of them have run since then, because they may not work either.
 * Meanwhile, a watch of type `checks` raises the alert.
 */
export const holdsUnknown = (
  watch: Scoped,
  since: number,
  counts: readonly UnknownChecks[],
  active: Iterable<Checked>,
): boolean => {
  const scope = scopeOf(watch);
  const group = counts.find((each) => each.scope === scope);
  if (!group || group.all < minCount) return false;
  const all = [...active];
  if (!all.some(({ runner }) => runner.watch.type.name === 'checks')) return false;
  if (group.isMost) return true;
  const isRecent = performance.now() - since < maxWaitMs;
  const isOpen = ({ runner, checkedAt = 0 }: Checked): boolean => scopeOf(runner.watch) === scope && checkedAt < since;
  return isRecent && all.some(isOpen);
};
