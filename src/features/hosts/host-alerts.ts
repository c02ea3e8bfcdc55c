import type { RaisedText } from '../../kit/raised-alerts.ts';
import { toLocalMinute } from '../../lib/local-time.ts';
import type { HostState } from './host-state.ts';
import type { KnownHost } from './kind.ts';

/** Format of alerts about hosts. */
export const hostFormat = 'host';

/** Fingerprints of the alerts about a single host and about most hosts. */
export const toSilentMark = (name: string): string => `host/${name}`;
export const toDuplicateMark = (name: string): string => `host/${name}/machines`;
export const mostSilentMark = 'hosts/silent';

/** Fields of all alerts about a host. */
export const toHostFields = (name: string, fingerprint: string, tags: readonly string[] = []) => ({
  source: `host/${name}`,
  hostname: name,
  fingerprint,
  labels: { host: name, ...(tags.length > 0 && { tags: tags.join(', ') }) },
});

/** Formats a time of day for people: `12:04`. */
const toClock = (at: number): string => toLocalMinute(at).slice(11, 16);

/** Formats a duration for people: `27 min`. */
const toDuration = (ms: number): string => {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
};

export const describeSilent = ({ name, tags }: KnownHost, { at, report, stoppedAt }: HostState): RaisedText => ({
  ...toHostFields(name, toSilentMark(name), tags),
  message: `${name} has not reported since ${toClock(at)}`,
  details: [
    `The last report of ${name} (${report.hostname}) was at ${toLocalMinute(at)}.`,
    stoppedAt === null ? '' : 'The host shut down cleanly, but did not come back within ten minutes.',
  ]
    .filter(Boolean)
    .join(' '),
  startsAt: new Date(at).toISOString(),
});

/** Describes the resolution of a silence that ended with a report. Without a state, the host was deleted. */
export const describeReporting = (name: string, state: HostState | undefined): RaisedText => ({
  ...toHostFields(name, toSilentMark(name)),
  message: state ? `${name} is reporting again${describeMissed(state)}` : `${name} was deleted`,
});

const describeMissed = ({ lastSilence, report, at }: HostState): string => {
  if (!lastSilence) return '';
  const { from, until } = lastSilence;
  const { uptimeSeconds, keptLeft = 0 } = report;
  const bootedAt = uptimeSeconds === undefined ? 0 : at - uptimeSeconds * 1000;
  const restarted = bootedAt > from ? ` The machine was started at ${toClock(bootedAt)}.` : '';
  const kept = keptLeft > 0 ? ` Readings from ${keptLeft} more minutes will follow.` : '';
  return `: no reports from ${toClock(from)} to ${toClock(until)} (${toDuration(until - from)}).${restarted}${kept}`;
};

/** Describes the alert about most hosts. `since` is the earliest time of their last reports. */
export const describeMostSilent = (silent: readonly string[], count: number, since: number): RaisedText => ({
  source: 'hosts',
  hostname: '',
  fingerprint: mostSilentMark,
  labels: {},
  message: `${silent.length} of ${count} hosts have not reported since ${toClock(since)}: this hub or its network is the likely cause`,
  details: silent.slice(0, 100).join(', '),
  startsAt: new Date(since).toISOString(),
});

export const describeMostReporting = (silent: number): RaisedText => ({
  source: 'hosts',
  hostname: '',
  fingerprint: mostSilentMark,
  labels: {},
  message:
    silent === 0
      ? 'All hosts are reporting again'
      : `Most hosts are reporting again; ${silent} ${silent === 1 ? 'is' : 'are'} still silent`,
});

export const describeDuplicates = ({ name, tags }: KnownHost, machines: HostState['machines']): RaisedText => ({
  ...toHostFields(name, toDuplicateMark(name), tags),
  message: `${machines.length} machines report as ${name}: ${machines.map(({ hostname, id }) => `${hostname} (machine-id ${id})`).join(', ')}`,
  details: `Enrol each machine under its own name. A cloned machine also needs its own machine-id.`,
});

export const describeSingle = (name: string): RaisedText => ({
  ...toHostFields(name, toDuplicateMark(name)),
  message: `Only one machine reports as ${name} now`,
});
