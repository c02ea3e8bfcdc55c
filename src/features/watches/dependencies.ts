import type { DependencySource } from '../../kit/dependencies.ts';
import type { Offers } from '../../kit/offers.ts';
import { checkGraceMs, defaultTimeoutMs, retryMs } from './check-runner.ts';
import { isUnknownAlert } from './fingerprints.ts';
import type { WatchKeeper } from './kind.ts';
import type { KnownWatch } from './known-watch.ts';
import { isForHost } from './pushed.ts';
import type { Watcher } from './watcher.ts';

interface WatchDependencyParts {
  keeper: WatchKeeper;
  watcher: Pick<Watcher, 'okSince'>;
  isRead(): boolean;
  offers: Pick<Offers, 'hosts'>;
}

/** Creates the source of dependencies of watches. */
export const createWatchDependencies = ({
  keeper,
  watcher,
  isRead,
  offers,
}: WatchDependencyParts): DependencySource => ({
  kind: 'watch',
  list: () => keeper.list().map(({ name, settings: { dependsOn } }) => ({ name, dependsOn })),
  find: (name) => keeper.find(name)?.settings,
  isRead,
  onChanged: (listener) => keeper.onChanged(listener),
  // A check that cannot run does not mean that its target is down.
  isFailure: ({ about }) => !isUnknownAlert(about),
  isSender: (name, sender) => {
    const settings = keeper.find(name)?.settings;
    const host = sender.startsWith('key:') ? sender.slice('key:'.length) : '';
    const tags = settings?.hosts && offers.hosts?.findTags(host);
    return settings !== undefined && tags !== undefined && isForHost(settings, host, tags);
  },
  knownAt: (name, since, graceMs) => {
    const watch = keeper.find(name);
    if (!watch || watch.settings.enabled === false || (watcher.okSince(name) ?? 0) >= since) return since;
    return since + Math.min(graceMs, toDetectionMs(watch));
  },
});

/** Returns the maximum milliseconds between a failure of a watched thing and its alert. */
const toDetectionMs = ({ everyMs, forMs, settings: { retries = 0, limit = 0 } }: KnownWatch): number =>
  everyMs + forMs + (retries + 1) * (Math.max(defaultTimeoutMs, limit) + checkGraceMs) + retries * retryMs;
