import { type Disk, type HostReport, toReportLine } from '../../kit/host-report/report-schema.ts';

/** Sample of a metric. */
interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** Samples by metric name. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Samples, with the time of their scrape in `performance` milliseconds. */
export interface Scrape {
  samples: Samples;
  at: number;
}

/** Maximum number of samples read per scrape. */
const mostSamples = 100_000;

/** Maximum length of a line. Longer lines are skipped. */
const longestLine = 4096;

/** Maximum number of disks in a report. */
const mostDisks = 32;

const lineForm = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
/** Pattern of a label. Sticky, because a search from every position would take quadratic time. */
const labelForm = /\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y;

/**
 * Parses node_exporter samples in Prometheus text format. Ignores other lines, lines that are too long, and samples
 * beyond the maximum.
 */
export const parseSamples = (
  text: string,
  limits: { lineLength: number; samples: number } = { lineLength: longestLine, samples: mostSamples },
): Samples => {
  const samples = new Map<string, Sample[]>();
  let count = 0;
  for (let start = 0, end = 0; start < text.length && count < limits.samples; start = end + 1) {
    end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    if (end - start > limits.lineLength || !text.startsWith('node_', start)) continue;
    const [, name = '', labels = '', value = ''] = lineForm.exec(text.slice(start, end)) ?? [];
    const number = Number(value);
    if (name === '' || Number.isNaN(number)) continue;
    const list = samples.get(name) ?? [];
    list.push({ labels: parseLabels(labels), value: number });
    samples.set(name, list);
    count += 1;
  }
  return samples;
};

/** Parses labels up to the first text that is not a label. */
const parseLabels = (text: string): Sample['labels'] => {
  const labels: [string, string][] = [];
  labelForm.lastIndex = 0;
  for (let found = labelForm.exec(text); found; found = labelForm.exec(text)) {
    const [, key = '', raw = ''] = found;
    labels.push([key, unquote(raw)]);
  }
  return Object.fromEntries(labels);
};

const unquote = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));

/** File systems to ignore, because they are not on disks or are mounts of containers. */
const notDisks = /^(?:tmpfs|ramfs|devtmpfs|overlay|squashfs|iso9660|nfs4?|cifs|fuse\..*|autofs|proc|sysfs|cgroup2?)$/;
const notMounts = /^\/(?:proc|sys|dev|run|var\/lib\/(?:docker|containers|kubelet))(?:\/|$)/;

/** Interfaces to ignore, because they have no traffic of their own or are parts of other devices. */
const virtualInterfaces = /^(?:lo|veth|docker|br-|virbr|cni|flannel|cali|tap|tun|dummy|wg)/;
const wholeDisks = /^(?:sd[a-z]+|vd[a-z]+|xvd[a-z]+|hd[a-z]+|nvme\d+n\d+|mmcblk\d+)$/;

/** Builds a report from two scrapes, because rates need both. Undefined if the samples are not from node_exporter. */
export const toScrapedReport = (
  name: string,
  { samples, at }: Scrape,
  before: Scrape | undefined,
  now: Date,
): HostReport | undefined => {
  const first = (metric: string): number | null => samples.get(metric)?.[0]?.value ?? null;
  const total = first('node_memory_MemTotal_bytes') ?? first('node_memory_total_bytes');
  if (total === null && !samples.has('node_cpu_seconds_total')) return undefined;
  const sum = (of: Samples, metric: string, isCounted: (labels: Sample['labels']) => boolean): number =>
    (of.get(metric) ?? []).reduce((all, { labels, value }) => all + (isCounted(labels) ? value : 0), 0);
  const rate = (metric: string, isCounted: (labels: Sample['labels']) => boolean = () => true): number | null => {
    if (!before || at <= before.at || !samples.has(metric)) return null;
    const change = sum(samples, metric, isCounted) - sum(before.samples, metric, isCounted);
    // A restart of the machine resets its counters.
    return change < 0 ? null : (change * 1000) / (at - before.at);
  };
  const isIdle = ({ mode }: Sample['labels']): boolean => mode === 'idle' || mode === 'iowait';
  const [busy, all] = [rate('node_cpu_seconds_total', (labels) => !isIdle(labels)), rate('node_cpu_seconds_total')];
  const available = first('node_memory_MemAvailable_bytes') ?? first('node_memory_MemFree_bytes');
  const [swapTotal, swapFree] = [first('node_memory_SwapTotal_bytes'), first('node_memory_SwapFree_bytes')];
  const isReal = ({ device = '' }: Sample['labels']): boolean => !virtualInterfaces.test(device);
  const isWhole = ({ device = '' }: Sample['labels']): boolean => wholeDisks.test(device);
  const temperatures = (samples.get('node_hwmon_temp_celsius') ?? []).map(({ value }) => value);
  const uname = samples.get('node_uname_info')?.[0]?.labels;
  const [time, bootedAt] = [first('node_time_seconds'), first('node_boot_time_seconds')];
  const percent = (metric: string): number | null => toPercent(rate(metric));
  return {
    time: new Date(time === null ? now : time * 1000).toISOString(),
    machineId: toReportLine(
      samples.get('node_dmi_info')?.[0]?.labels['product_uuid'] || uname?.['nodename'] || name,
      128,
    ),
    hostname: toReportLine(uname?.['nodename'] || name, 255),
    osName:
      toReportLine(samples.get('node_os_info')?.[0]?.labels['pretty_name'] ?? uname?.['sysname'] ?? '', 255) || null,
    ...(bootedAt !== null && { uptimeSeconds: Math.max(0, (time ?? now.getTime() / 1000) - bootedAt) }),
    readings: {
      cpu: busy === null || !all ? null : Math.min(1, busy / all),
      memoryUsed: total === null || available === null ? null : Math.max(0, total - available),
      memoryTotal: total,
      swapUsed: swapTotal === null || swapFree === null ? null : Math.max(0, swapTotal - swapFree),
      swapTotal,
      load: first('node_load1'),
      networkReceived: rate('node_network_receive_bytes_total', isReal),
      networkSent: rate('node_network_transmit_bytes_total', isReal),
      diskRead: rate('node_disk_read_bytes_total', isWhole),
      diskWritten: rate('node_disk_written_bytes_total', isWhole),
      temperature: temperatures.length === 0 ? null : temperatures.reduce((one, other) => Math.max(one, other), 0),
      pressureCpu: percent('node_pressure_cpu_waiting_seconds_total'),
      pressureMemory: percent('node_pressure_memory_waiting_seconds_total'),
      pressureIo: percent('node_pressure_io_waiting_seconds_total'),
      processCount: first('node_processes_pids'),
      disks: listDisks(samples),
    },
  };
};

/** Lists each disk once, under its shortest mount path. */
const listDisks = (samples: Samples): Disk[] => {
  const byDevice = new Map<string, Sample>();
  for (const sample of samples.get('node_filesystem_size_bytes') ?? []) {
    const { device = '', fstype = '', mountpoint = '' } = sample.labels;
    if (notDisks.test(fstype) && mountpoint !== '/') continue;
    if (notMounts.test(mountpoint) || sample.value <= 0) continue;
    const known = byDevice.get(device)?.labels['mountpoint'];
    if (known === undefined || known.length > mountpoint.length) byDevice.set(device, sample);
  }
  const free = indexByMount(samples.get('node_filesystem_free_bytes'));
  const available = indexByMount(samples.get('node_filesystem_avail_bytes'));
  return [...byDevice.values()].slice(0, mostDisks).map(({ labels, value }) => {
    const mount = toMountKey(labels);
    const used = Math.max(0, value - (free.get(mount) ?? 0));
    return {
      mountPath: toReportLine(labels['mountpoint'] ?? '', 255),
      used,
      total: used + (available.get(mount) ?? 0),
    };
  });
};

const indexByMount = (samples: readonly Sample[] = []): Map<string, number> =>
  new Map(samples.map(({ labels, value }) => [toMountKey(labels), value]));

const toMountKey = ({ device = '', mountpoint = '' }: Sample['labels']): string => `${device}\n${mountpoint}`;

const toPercent = (share: number | null): number | null => (share === null ? null : Math.min(100, 100 * share));
