import type { FastifyBaseLogger } from 'fastify';
import { fetchDocument } from '../../kit/fetch-document.ts';
import { connectionFailures } from '../../lib/network-failures.ts';
import { MiB } from '../../lib/units.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { Fleet } from './fleet.ts';
import type { KnownHost } from './kind.ts';
import { parseSamples, type Scrape, toScrapedReport } from './node-exporter.ts';

/** Milliseconds between two scrapes of a host, and timeout of a scrape. */
const scrapeMs = 10_000;
const timeoutMs = 8000;

/** Maximum number of bytes read from a response. */
const maxBytes = 8 * MiB;

interface ScraperParts {
  fleet: Fleet;
  list(): readonly KnownHost[];
  lease: Pick<Lease, 'isHeld'>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Turns machines with node_exporter instead of an agent into hosts. Of several instances, only one scrapes. */
export class Scraper {
  readonly #parts: ScraperParts;
  readonly #last = new Map<string, Scrape>();
  readonly #failures = new Map<string, string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ScraperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => this.#scrapeAll(), scrapeMs).unref();
    this.#scrapeAll();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  #scrapeAll(): void {
    if (!this.#parts.lease.isHeld()) return;
    for (const { name, url } of this.#parts.list()) {
      if (url === undefined || this.#running.has(name)) continue;
      const running = this.#scrape(name, url).finally(() => this.#running.delete(name));
      this.#running.set(name, running);
    }
  }

  async #scrape(name: string, url: string): Promise<void> {
    const { clock, fleet, log } = this.#parts;
    try {
      const scrape = { samples: parseSamples(await this.#request(url)), at: performance.now() };
      const report = toScrapedReport(name, scrape, this.#last.get(name), clock());
      if (!report) throw new Error('the response does not come from a node_exporter');
      this.#last.set(name, scrape);
      await fleet.take(name, report, clock().getTime());
      this.#failures.delete(name);
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      const reason = connectionFailures[code] ?? message;
      if (this.#failures.get(name) === reason || this.#closing.signal.aborted) return;
      this.#failures.set(name, reason);
      log.warn({ host: name, reason }, 'hosts: a node_exporter cannot be scraped');
    }
  }

  #request(url: string): Promise<string> {
    return fetchDocument(new URL(url), {
      accept: 'text/plain',
      maxBytes,
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]),
      server: 'the node_exporter',
      document: 'the response',
    });
  }
}
