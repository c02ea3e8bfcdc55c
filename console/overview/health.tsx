import { ApiError, send } from '../api.ts';
import { type Destination, listDeliveries } from '../calls/deliveries.ts';
import { getInfo, getMachine, getReadiness, getServer, listDisks } from '../calls/host.ts';
import { toCount, toPercent } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { findRoute, isMounted, type RouteName } from '../mounts.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { Panel, Skeleton } from '../ui/panel.tsx';

const words = text.overview;

/** From these shares on, in percent, something needs attention. */
const limits = { cpu: 95, memory: 92, disk: 90 };

const isAllowed = (route: RouteName): boolean => {
  const access = findRoute(route)?.access;
  return access === 'open' || (access === 'admin' ? session.value?.role === 'Admin' : session.value !== undefined);
};

/** Everything that the words about health come from; what is not mounted, or not allowed, is undefined. */
const readHealth = async (signal: AbortSignal) => {
  const read = <T,>(call: Parameters<typeof send<T>>[0]) =>
    isMounted(call) && isAllowed(call) ? send(call, { signal }) : undefined;
  const [machine, server, info, disks, ready, deliveries] = await Promise.all([
    read(getMachine),
    read(getServer),
    read(getInfo),
    read(listDisks),
    isMounted(getReadiness) ? send(getReadiness, { signal }).then(() => true, toNotReady) : undefined,
    read(listDeliveries),
  ]);
  return { machine, server, info, disks: disks?.data, isReady: ready, deliveries: deliveries?.data };
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
  const problems = value ? findProblems(value) : [];
  const isFine = problems.length === 0;
  return (
    <Panel title={words.health} kind={`health ${value ? (isFine ? 'fine' : 'attention') : ''}`}>
      {value ? (
        <div class="verdict">
          <Icon name={isFine ? 'check' : 'warning'} />
          <div>
            <p class="strong">{isFine ? words.healthy : words.attention(problems.length)}</p>
            {problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </div>
        </div>
      ) : (
        (error && <p>{error.message}</p>) || <Skeleton lines={1} />
      )}
      <dl class="facts">
        {toFacts(value).map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
};

const toFacts = (readings: Readings | undefined): [name: string, fact: string][] => {
  const { machine, server, info, isReady, deliveries } = readings ?? {};
  const known: [string, string | undefined][] = [
    [words.machine, machine?.computer ?? server?.hostname],
    [words.os, info?.os],
    [words.up, machine?.uptime],
    [words.version, server && `signalbox ${server.version}`],
    [words.serverUp, server && toShortSpan(server.uptime)],
    [words.alertLog, isReady === undefined ? undefined : isReady ? words.writable : words.notWritable],
    [words.deliveries, deliveries && toDeliveries(deliveries)],
  ];
  const isLoading = readings === undefined;
  return known.flatMap(([name, fact]): [string, string][] => (fact || isLoading ? [[name, fact ?? '…']] : []));
};

/** `1.02:03:04.0000000` → `1 d 2 h`, `02:03:04.0000000` → `2 h 3 min`. */
const toShortSpan = (span: string): string => {
  const [, days = '0', hours = '0', minutes = '0'] = /^(?:(\d+)\.)?(\d+):(\d+)/.exec(span) ?? [];
  if (Number(days) > 0) return `${Number(days)} d ${Number(hours)} h`;
  return Number(hours) > 0 ? `${Number(hours)} h ${Number(minutes)} min` : `${Number(minutes)} min`;
};

const toDeliveries = (all: Destination[]): string => {
  if (all.length === 0) return words.deliveriesNone;
  const sum = (pick: (one: Destination) => number) => all.reduce((total, one) => total + pick(one), 0);
  const lag = words.deliveriesLag(toCount(sum(({ lagAlerts }) => lagAlerts)));
  const parked = sum((one) => one.parked);
  return parked === 0 ? lag : `${lag}, ${words.deliveriesParked(toCount(parked))}`;
};
