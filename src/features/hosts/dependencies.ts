import type { DependencySource } from '../../kit/dependencies.ts';
import { minuteMs } from '../../lib/units.ts';
import type { Fleet } from './fleet.ts';
import { toSilentMark } from './host-alerts.ts';
import type { HostWatch } from './host-watch.ts';
import type { HostKeeper } from './kind.ts';

/**
 * Milliseconds between the last report of a silent host and its alert. The alert is delayed in case other hosts are
 * also silent.
 */
const detectionMs = minuteMs + 6000;

interface HostDependencyParts {
  keeper: HostKeeper;
  fleet: Pick<Fleet, 'find'>;
  watch: Pick<HostWatch, 'judge'>;
  silentMs(): number;
  isRead(): boolean;
}

/** Creates the source of dependencies of hosts. */
export const createHostDependencies = (parts: HostDependencyParts): DependencySource => {
  const { keeper, fleet, watch, silentMs, isRead } = parts;
  return {
    kind: 'host',
    list: () => keeper.list(),
    find: (name) => keeper.find(name),
    isRead,
    onChanged: (listener) => keeper.onChanged(listener),
    isFailure: ({ about, source }) => about === toSilentMark(source.slice('host/'.length)),
    isAmongMost: (name) => watch.judge(name).state === 'silent',
    knownAt: (name, since, graceMs) => {
      const state = fleet.find(name);
      const isExpected = state && !state.isHub && ['up', 'late', 'silent'].includes(watch.judge(name).state);
      if (!isExpected || state.at >= since) return since;
      // If reports are missing, only the host's own silence counts.
      return Math.max(since, Math.min(state.at + silentMs(), since + graceMs) + detectionMs);
    },
  };
};
