import type { Watch, WatchedThing, WatchSettings } from 'signalbox/client';
import { toBytes, toCount, toPercent, toShortNumber } from '../format.ts';
import { watchTexts as words } from '../strings/watches.ts';

export type WatchKind = WatchSettings['type'];

/** Types offered by the form, in groups. Watches of files and plugins can be defined only in the config file. */
export const kindGroups = {
  machine: [
    'disk',
    'memory',
    'swap',
    'cpu',
    'load',
    'network',
    'pressure',
    'temperature',
    'process',
    'service',
    'container',
  ],
  network: ['http', 'tcp', 'ping', 'dns', 'certificate', 'domain', 'grpc', 'postgres', 'mysql', 'redis', 'alert'],
  own: ['database', 'journal', 'destination', 'checks'],
} as const satisfies Record<string, readonly WatchKind[]>;

const trust = ['ca', 'certificate', 'key'] as const;

/** Settings of each type, in addition to the settings common to all types. */
export const watchFields = {
  disk: ['metric', 'mounts', 'except'],
  network: ['metric'],
  pressure: ['resource'],
  temperature: ['sensor', 'except'],
  process: ['process', 'user', 'metric', 'min', 'max'],
  service: ['units', 'failed', 'except'],
  container: ['container'],
  http: [
    'url',
    'method',
    'headers',
    'body',
    'redirects',
    'status',
    'contains',
    'lacks',
    'json',
    'certificateDays',
    ...trust,
  ],
  tcp: ['host', 'port'],
  ping: ['host'],
  dns: ['host', 'record', 'server', 'expected'],
  certificate: ['host', 'port', 'ca'],
  domain: ['domain', 'server'],
  grpc: ['host', 'port', 'service', 'tls', ...trust],
  postgres: ['host', 'port', 'user', 'password', 'database', 'tls', ...trust],
  mysql: ['host', 'port', 'user', 'password', 'database', 'tls', ...trust],
  redis: ['host', 'port', 'user', 'password', 'tls', ...trust],
  alert: ['source', 'metric', 'minutes'],
} as const satisfies Partial<Record<WatchKind, readonly (keyof WatchSettings)[]>>;

/** Metrics of each type, with the default first. */
export const watchMetrics: Partial<Record<WatchKind, readonly (keyof typeof words.metrics)[]>> = {
  disk: ['used', 'free', 'inodes'],
  network: ['received', 'sent'],
  process: ['', 'memory', 'cpu'],
  alert: ['silence', 'count'],
};

export type WatchUnit = keyof typeof words.units;

/** Factors that convert typed values to stored values. A typed `2`, for example, means 2 GiB. */
export const unitSizes: Partial<Record<WatchUnit, number>> = { bytes: 1024 ** 3, rate: 1024 ** 2 };

const units: Partial<Record<WatchKind, WatchUnit>> = {
  disk: 'percent',
  memory: 'percent',
  swap: 'percent',
  cpu: 'percent',
  pressure: 'percent',
  load: 'number',
  network: 'rate',
  temperature: 'celsius',
  http: 'ms',
  tcp: 'ms',
  ping: 'ms',
  dns: 'ms',
  grpc: 'ms',
  postgres: 'ms',
  mysql: 'ms',
  redis: 'ms',
  certificate: 'days',
  domain: 'days',
};

type Measured = Pick<WatchSettings, 'type' | 'metric'>;

/** Returns the unit of the limit. Undefined for yes-or-no checks. */
export const unitOf = ({ type, metric }: Measured): WatchUnit | undefined => {
  if (type === 'disk' && metric === 'free') return 'bytes';
  if (type === 'process') return metric === 'memory' ? 'mebibytes' : metric === 'cpu' ? 'percent' : undefined;
  if (type === 'alert') return metric === 'count' ? 'number' : 'minutes';
  return units[type];
};

/** True if the limit is optional. Without a limit, only faults are reported. */
export const isLimitOptional = ({ type }: Measured): boolean =>
  type in units && (units[type] === 'ms' || units[type] === 'days');

/** Default limit in days, for a watch without a limit. */
export const usualDays: Partial<Record<WatchKind, number>> = { certificate: 14, domain: 30 };

const isLowBad = ({ type, metric }: Measured): boolean => usualDays[type] !== undefined || metric === 'free';

/** Returns the side of the limit that raises an alert. `beyond` excludes the limit itself. */
export const sideOf = (settings: Measured): 'low' | 'high' | 'beyond' => {
  if (isLowBad(settings)) return 'low';
  return settings.metric === 'count' ? 'beyond' : 'high';
};

/** Formats a value with its unit: `91.3 %`. */
export const toFigure =
  (settings: Measured) =>
  (value: number): string => {
    const unit = unitOf(settings) ?? 'number';
    if (unit === 'percent') return toPercent(value);
    if (unit === 'bytes' || unit === 'rate') return toBytes(value) + (unit === 'rate' ? '/s' : '');
    if (unit === 'mebibytes') return toBytes(value * 1024 ** 2);
    const number = unit === 'ms' || unit === 'days' || unit === 'minutes' ? toCount(value) : toShortNumber(value);
    return `${number} ${words.units[unit]}`.trim();
  };

/** Formats a limit or axis label without trailing digits: `90 %`. */
export const toLimitText =
  (settings: Measured) =>
  (value: number): string => {
    const unit = unitOf(settings);
    if (unit === 'percent') return `${toShortNumber(value)} %`;
    return toFigure(settings)(value).replace(/[.,]0(?= )/, '');
  };

/** Lists the limits that can be drawn, with the critical limit last. */
export const limitsOf = ({ limit, critical, type }: WatchSettings): number[] => {
  return [limit ?? usualDays[type], critical].filter((each) => each !== undefined);
};

/** Describes the watched things in words: `Disk space: /var, /srv/*`. */
export const describeWatch = (settings: WatchSettings): string => {
  const {
    type,
    mounts,
    units: services,
    failed,
    command,
    url,
    host,
    port,
    path,
    process,
    container,
    source,
    sensor,
    resource,
  } = settings;
  if (type === 'service' && failed && !services) return words.failedUnits;
  const server = host && (port ? `${host}:${port}` : host);
  const about = [
    mounts?.join(', '),
    services?.join(', '),
    command?.join(' '),
    url,
    server,
    path,
    process,
    container,
    source,
    sensor,
    resource,
  ];
  return [toName(settings), about.find(Boolean)].filter(Boolean).join(': ');
};

const toName = ({ type, metric }: WatchSettings): string => {
  const [usual = ''] = watchMetrics[type] ?? [];
  return words.short[metric ?? usual] ?? words.types[type];
};

const order: readonly Watch['state'][] = ['firing', 'cannot check', 'pending', 'new', 'ok', 'elsewhere', 'paused'];

/** Compares two watches by state, worst first. */
export const compareStates = (one: { state: Watch['state'] }, other: { state: Watch['state'] }): number =>
  order.indexOf(one.state) - order.indexOf(other.state);

/**
 * Finds the thing that represents the watch: the thing in the worst state and, among several, the one with the worst
 * value.
 */
export const findWorst = ({ things, settings }: Pick<Watch, 'things' | 'settings'>): WatchedThing | undefined =>
  sortThings(things, settings)[0];

export const sortThings = (things: readonly WatchedThing[], settings: WatchSettings): WatchedThing[] => {
  // Metrics of other types are not comparable.
  const isAlike = settings.type === 'disk' || settings.type === 'temperature';
  const sign = isAlike ? (isLowBad(settings) ? 1 : -1) : 0;
  return things.toSorted((one, other) => compareStates(one, other) || sign * ((one.figure ?? 0) - (other.figure ?? 0)));
};

/** Returns the settings that apply to a thing. They differ between the metrics of a watch that measures two metrics. */
export const settingsOf = (settings: WatchSettings, { thing }: Pick<WatchedThing, 'thing'>): WatchSettings => {
  const { name, type, certificateDays } = settings;
  if (type === 'http' && certificateDays !== undefined && thing.endsWith(' certificate'))
    return { name, type: 'certificate', limit: certificateDays };
  return type === 'process' && thing === settings.process ? { name, type } : settings;
};
