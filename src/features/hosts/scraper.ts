import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { FastifyBaseLogger } from 'fastify';
import { connectionFailures } from '../../lib/network-failures.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { Fleet } from './fleet.ts';
import type { KnownHost } from './kind.ts';
import { parseSamples, type Scrape, toScrapedReport } from './node-exporter.ts';

/** Milliseconds between two scrapes of a host, and timeout of a scrape. */
const scrapeMs = 10_000;
const timeoutMs = 8000;

/** Maximum number of bytes read from a response. */
const maxBytes = 8 * 1024 * 1024;

interface ScraperParts {
  fleet: Fleet;
  list(): readonly KnownHost[];
  lease: Pick<Lease, 'isHeld'>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Turns machines that run node_exporter instead of an agent into hosts. Of several instances, only one scrapes. */
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

  async #request(url: string): Promise<string> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]);
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const sent = send(url, { signal, headers: { 'user-agent': 'signalbox', accept: 'text/plain' } });
    sent.on('error', () => undefined);
    const [response]: IncomingMessage[] = await once(sent.end(), 'response', { signal });
    if (!response) throw new Error('no response');
    try {
      if (response.statusCode !== 200) throw new Error(`the node_exporter responded ${response.statusCode}`);
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new Error('the response is longer than 8 MiB');
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString();
    } finally {
      response.destroy();
    }
  }
}
