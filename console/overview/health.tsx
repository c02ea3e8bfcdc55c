import { ApiError, send } from '../api.ts';
import { type Destination, listDeliveries } from '../calls/deliveries.ts';
import { getInfo, getMachine, getReadiness, getServer, listDisks } from '../calls/host.ts';
import { findBootTime, findQueued, readMetrics } from '../calls/metrics.ts';
import { serverNow } from '../clock.ts';
import { toCount, toDuration, toPercent } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { findRoute, type RouteName } from '../mounts.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { Panel, Skeleton } from '../ui/panel.tsx';

const words = text.overview;

/** From these shares on, in percent, something needs attention. */
const limits = { cpu: 95, memory: 92, disk: 90 };

/** True if the route is mounted and open to the present user. */
const isReadable = (route: RouteName): boolean => {
  const access = findRoute(route)?.access;
  if (access === 'admin') return session.value?.role === 'Admin';
  return access === 'open' || (access === 'token' && session.value !== undefined);
};

/** Everything that the words about health come from; what is not mounted, or not allowed, is undefined. */
const readHealth = async (signal: AbortSignal) => {
  const read = <T,>(call: Parameters<typeof send<T>>[0]) => (isReadable(call) ? send(call, { signal }) : undefined);
  const [machine, server, info, disks, ready, deliveries, metrics = ''] = await Promise.all([
    read(getMachine),
    read(getServer),
    read(getInfo),
    read(listDisks),
    isReadable(getReadiness) ? send(getReadiness, { signal }).then(() => true, toNotReady) : undefined,
    read(listDeliveries),
    // One of many facts, which its scrape may not hold up.
    read(readMetrics)?.catch(() => ''),
  ]);
  return {
    ...{ machine, server, info, disks: disks?.data, isReady: ready, deliveries: deliveries?.data },
    ...{ queued: findQueued(metrics), bootedAt: findBootTime(metrics) },
  };
};

type Readings = Awaited<ReturnType<typeof readHealth>>;

const toNotReady = (reason: unknown): boolean => {
  if (reason instanceof ApiError && reason.status === 503) return false;
  throw reason;
};

/** What is wrong, in words. */
const findProblems = ({ machine, disks = [], isReady, deliveries = [] }: Readings): string[] => {
  const cpu = Number.parseFloat(machine?.cpuUsage ?? '0');
  const memory = Number.parseFloat(machine?.memoryUsage ?? '0');
  return [
    ...(isReady === false ? [words.reasons.log] : []),
    ...(cpu >= limits.cpu ? [words.reasons.cpu(toPercent(cpu))] : []),
    ...(memory >= limits.memory ? [words.reasons.memory(toPercent(memory))] : []),
    ...disks
      .filter(({ usagePct }) => usagePct >= limits.disk)
      .map(({ drive, usagePct }) => words.reasons.disk(drive, toPercent(usagePct))),
    ...deliveries.filter(isFailing).map(({ destination }) => words.reasons.deliveries(destination)),
  ];
};

const isFailing = ({ state }: Destination): boolean => state === 'waiting' || state === 'disabled';

/** How the machine and the service are, in words. */
export const Health = () => {
  const { value, error } = useResource(readHealth, { topic: 'host', calm: 5000 });
  const verdict = value && toVerdict(value);
  return (
    <Panel title={words.health} kind={`health ${verdict?.kind ?? ''}`}>
      {verdict ? <Words {...verdict} /> : (error && <p>{error.message}</p>) || <Skeleton lines={1} />}
      <dl class="facts">
        {toFacts(value).map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={fact}>{fact}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
};

interface Verdict {
  kind: 'fine' | 'attention' | 'unknown';
  title: string;
  problems: string[];
}

const toVerdict = (readings: Readings): Verdict => {
  const problems = findProblems(readings);
  if (problems.length > 0) return { kind: 'attention', title: words.attention(problems.length), problems };
  const isKnown = Object.values(readings).some((reading) => reading !== undefined);
  return isKnown
    ? { kind: 'fine', title: words.healthy, problems }
    : { kind: 'unknown', title: words.nothing, problems };
};

const icons = { fine: 'check', attention: 'warning', unknown: 'other' } as const;

const Words = ({ kind, title, problems }: Verdict) => (
  <div class="verdict">
    <Icon name={icons[kind]} />
    <div>
      <p class="strong">{title}</p>
      {problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
    </div>
  </div>
);

/** What is known; while it is loaded, the names of all that can be read. */
const toFacts = (readings: Readings | undefined): [name: string, fact: string][] => {
  const { server, info, isReady, deliveries, queued, bootedAt } = readings ?? {};
  const all: [route: RouteName, name: string, fact: string | undefined][] = [
    [getServer, words.machine, server?.hostname],
    [getInfo, words.os, info?.os],
    [getInfo, words.up, info && toUptime(info.uptime, bootedAt)],
    [getServer, words.version, server && `signalbox ${server.version}`],
    [getServer, words.serverUp, server && toDuration(toSeconds(server.uptime))],
    [getReadiness, words.alertLog, isReady === undefined ? undefined : isReady ? words.writable : words.notWritable],
    [readMetrics, words.queue, queued === undefined ? undefined : words.queued(toCount(queued))],
    [listDeliveries, words.deliveries, deliveries && toDeliveries(deliveries)],
  ];
  return all
    .filter(([route, , fact]) => (readings ? fact !== undefined : isReadable(route)))
    .map(([, name, fact]) => [name, fact ?? '…']);
};

/** How long the machine is up. Its uptime in days has one decimal, which says no more than hours. */
const toUptime = (days: number, bootedAt: number | undefined): string =>
  toDuration(bootedAt === undefined ? Math.round(days * 24) * 3600 : (serverNow() - bootedAt) / 1000);

/** `1.02:03:04.0000000` is 93784. */
const toSeconds = (span: string): number => {
  const [, days = '0', hours, minutes, seconds] = /^(?:(\d+)\.)?(\d+):(\d+):(\d+)/.exec(span) ?? [];
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
};

const toDeliveries = (all: Destination[]): string => {
  if (all.length === 0) return words.deliveriesNone;
  const sum = (pick: (one: Destination) => number) => all.reduce((total, one) => total + pick(one), 0);
  const lag = words.deliveriesLag(toCount(sum(({ lagAlerts }) => lagAlerts)));
  const parked = sum((one) => one.parked);
  return parked === 0 ? lag : `${lag}, ${words.deliveriesParked(toCount(parked))}`;
};
