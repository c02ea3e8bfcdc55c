import type { FastifyBaseLogger } from 'fastify';
import type { HostReadings } from '../../host/readings.ts';
import { ReportCollector } from '../../kit/host-report/collector.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import type { Fleet } from './fleet.ts';
import type { HostKeeper } from './kind.ts';

/** Milliseconds between reports. Processes are included in one of `processesEvery` reports. */
const reportMs = 10_000;
const processesEvery = 6;

interface OwnHostParts {
  fleet: Fleet;
  keeper: HostKeeper;
  host: HostReadings;
  version: string;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** This server's own machine as a host. Shown once another host exists. */
export class OwnHost {
  readonly #parts: OwnHostParts;
  readonly #collector: ReportCollector;
  readonly #name: string;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(parts: OwnHostParts) {
    this.#parts = parts;
    const { host, version, clock } = parts;
    this.#collector = new ReportCollector(host, version, clock);
    this.#name = toHostName(host.hostname());
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#working = this.#report();
    }, reportMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#collector.stop();
    await this.#working;
  }

  async #report(): Promise<void> {
    const { clock, fleet, keeper, log } = this.#parts;
    // An agent on this machine may already report for the machine.
    const isNeeded = keeper.list().length > 0 && (fleet.find(this.#name)?.isHub ?? !keeper.find(this.#name));
    if (!isNeeded) return;
    try {
      this.#collector.start();
      if (!keeper.find(this.#name)) await keeper.create(this.#name, { tags: [], note: '' }, 'signalbox');
      const report = await this.#collector.collect(this.#count % processesEvery === 0);
      this.#count += 1;
      await fleet.take(this.#name, report, clock().getTime(), true);
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing && !(err instanceof StoreUnavailable))
        log.warn({ err }, 'hosts: the readings of this machine cannot be stored');
      this.#isFailing = true;
    }
  }
}

/** Converts the machine's host name to a valid name for a host. */
const toHostName = (hostname: string): string =>
  hostname
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64) || 'hub';
