import { hostLimits } from '../../kit/offers.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { isLike } from '../../lib/wildcards.ts';
import type { FigureLimits } from './condition.ts';
import type { WatchSettings } from './schema.ts';
import type { WatchType } from './watch-type.ts';
import { toWatchType } from './watch-types.ts';

/** Watch in use. */
export interface KnownWatch {
  name: string;
  settings: WatchSettings;
  type: WatchType;
  origin: 'default' | 'config' | 'made';
  setting: RuntimeSetting<WatchSettings> | undefined;
  /** Limits. Undefined for a yes-or-no check. */
  limits: FigureLimits | undefined;
  everyMs: number;
  forMs: number;
  /** True if the watch raises no alerts. The hub counts its results as votes. */
  isVote?: boolean;
}

/** Default watches. None of them checks for failing destinations, because destinations raise their own alerts. */
const defaultWatches: readonly WatchSettings[] = [
  { name: 'disk', type: 'disk', limit: 100 * hostLimits.disk, critical: 100 * hostLimits.fullDisk },
  {
    name: 'inodes',
    type: 'disk',
    metric: 'inodes',
    limit: 100 * hostLimits.disk,
    critical: 100 * hostLimits.fullDisk,
  },
  { name: 'memory', type: 'memory', limit: 100 * hostLimits.memory, for: 300 },
  { name: 'units', type: 'service', failed: true, every: 60 },
  { name: 'journal', type: 'journal' },
  { name: 'checks', type: 'checks' },
];

export const toKnownWatch = (
  settings: WatchSettings,
  origin: KnownWatch['origin'],
  setting?: RuntimeSetting<WatchSettings>,
): KnownWatch => {
  const type = toWatchType(settings);
  const { limit = type.defaultLimit, critical, clear } = settings;
  return {
    name: settings.name,
    settings,
    type,
    origin,
    setting,
    limits:
      limit === undefined
        ? undefined
        : {
            limit,
            critical,
            clear,
            isLowBad: type.isLowBad?.(settings) ?? false,
            isBeyond: settings.metric === 'count',
          },
    everyMs: 1000 * (settings.every ?? type.every),
    forMs: 1000 * (settings.for ?? type.for ?? 0),
  };
};

/** Returns the default watches. Without systemd, no watch for units is included. */
export const listDefaultWatches = (hasSystemd: boolean): readonly KnownWatch[] =>
  defaultWatches
    .filter(({ type }) => type !== 'service' || hasSystemd)
    .map((settings) => toKnownWatch(settings, 'default'));

/** True if an enabled watch checks CPU, memory or disk usage. */
export const isCovered = (watches: readonly KnownWatch[], what: 'cpu' | 'memory' | { mountPath: string }): boolean =>
  watches.some(({ settings: { type, enabled, metric, mounts } }) => {
    if (enabled === false) return false;
    if (typeof what === 'string') return type === what;
    if (type !== 'disk' || metric === 'inodes') return false;
    return mounts === undefined || mounts.some((pattern) => isLike(what.mountPath, pattern));
  });
