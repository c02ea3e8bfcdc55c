import { readFileSync } from 'node:fs';
import { createUsageReader } from '../../host/process-usage.ts';
import { type HostSample, type HostReadings as Machine, pressures, type Usage } from '../../host/readings.ts';
import { type HostReport, mostProcesses, type ReportedReadings, toReportLine } from './report-schema.ts';

type CollectedMachine = Pick<
  Machine,
  | 'listen'
  | 'hostname'
  | 'system'
  | 'uptimeSeconds'
  | 'disksOfMinute'
  | 'diskTraffic'
  | 'temperatures'
  | 'pressure'
  | 'memory'
  | 'cpuBusy'
  | 'processCount'
  | 'processes'
  | 'processOwners'
>;

/** Collects reports about this machine from its readings. */
export class ReportCollector {
  readonly #host: CollectedMachine;
  readonly #version: string;
  readonly #clock: () => Date;
  readonly #readProcesses: ReturnType<typeof createUsageReader>['read'];
  readonly #samples: Usage[] = [];
  #leave: (() => void) | undefined;
  #traffic: { read: number; written: number; at: number } | undefined;

  constructor(host: CollectedMachine, version: string, clock: () => Date) {
    this.#host = host;
    this.#version = version;
    this.#clock = clock;
    this.#readProcesses = createUsageReader(host, (all) =>
      all.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes).slice(0, mostProcesses),
    ).read;
  }

  start(): void {
    this.#leave ??= this.#host.listen(({ usage }: HostSample) => {
      // No report has been requested for a while.
      if (this.#samples.length >= 60) this.#samples.shift();
      this.#samples.push(usage);
    });
  }

  stop(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Returns a report with the means since the previous report. */
  async collect(withProcesses: boolean): Promise<HostReport> {
    const { osName } = await this.#host.system();
    const hostname = this.#host.hostname() || 'localhost';
    const processes = withProcesses ? await this.#listProcesses() : undefined;
    return {
      time: this.#clock().toISOString(),
      machineId: readMachineId(hostname),
      hostname,
      version: this.#version,
      osName,
      uptimeSeconds: Math.round(this.#host.uptimeSeconds()),
      readings: await this.#read(),
      ...(processes && { processes }),
    };
  }

  async #read(): Promise<ReportedReadings> {
    const samples = this.#samples.splice(0);
    const mean = (key: keyof Usage, digits = 0): number | null => {
      const values = samples.map((each) => each[key]).filter((value) => Number.isFinite(value));
      return values.length === 0 ? null : round(values.reduce((sum, value) => sum + value, 0) / values.length, digits);
    };
    const [disks, memory, count] = await Promise.all([
      this.#host.disksOfMinute().catch(() => []),
      this.#host.memory().catch(() => null),
      this.#host.processCount().catch(() => null),
    ]);
    const [cpu, memoryPressure, io] = pressures.map((each) => this.#host.pressure(each));
    const celsius = this.#host.temperatures().map((each) => each.celsius);
    return {
      cpu: mean('cpu', 4) ?? round(await this.#host.cpuBusy(), 4),
      memoryUsed: mean('memoryUsed'),
      memoryTotal: mean('memoryTotal'),
      swapUsed: mean('swapUsed'),
      swapTotal: memory?.swapTotal ?? null,
      load: mean('load', 2),
      networkReceived: mean('networkReceived'),
      networkSent: mean('networkSent'),
      ...this.#readTraffic(new Set(disks.flatMap(({ deviceNumber }) => deviceNumber ?? []))),
      temperature: celsius.length === 0 ? null : round(Math.max(0, ...celsius), 1),
      pressureCpu: cpu ?? null,
      pressureMemory: memoryPressure ?? null,
      pressureIo: io ?? null,
      processCount: count,
      disks: disks.slice(0, 32).map(({ mountPath, usedBytes, availableBytes }) => ({
        mountPath: toReportLine(mountPath, 255),
        used: usedBytes,
        total: usedBytes + availableBytes,
      })),
    };
  }

  /** Returns the traffic since the last reading on the devices of mounted disks. */
  #readTraffic(devices: ReadonlySet<string>): Pick<ReportedReadings, 'diskRead' | 'diskWritten'> {
    const at = performance.now();
    const traffic = this.#host.diskTraffic();
    const sum = { read: 0, written: 0, at };
    for (const device of devices) {
      sum.read += traffic.get(device)?.read ?? 0;
      sum.written += traffic.get(device)?.written ?? 0;
    }
    const before = this.#traffic;
    this.#traffic = sum;
    if (!before || at <= before.at || devices.size === 0) return { diskRead: null, diskWritten: null };
    const rate = (key: 'read' | 'written'): number =>
      Math.round((Math.max(0, sum[key] - before[key]) * 1000) / (at - before.at));
    return { diskRead: rate('read'), diskWritten: rate('written') };
  }

  async #listProcesses(): Promise<HostReport['processes']> {
    const { processes } = await this.#readProcesses().catch(() => ({ processes: [] }));
    return processes.map((each) => ({
      ...each,
      name: toReportLine(each.name, 255),
      startedAt: each.startedAt?.toISOString() ?? null,
    }));
  }
}

/** Returns the id of this machine, or its host name if it has no id. */
const readMachineId = (hostname: string): string => {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const id = readFileSync(path, 'utf8').trim();
      if (/^[0-9a-f]{32}$/.test(id)) return id;
    } catch {
      // The next file may be readable.
    }
  }
  return toReportLine(hostname, 128);
};

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
