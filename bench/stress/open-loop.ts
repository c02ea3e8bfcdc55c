import { once } from 'node:events';
import { quantile } from '../support/figures.ts';
import { type Connection, openConnection } from './connection.ts';

/**
 * A process that sends one request at a fixed rate, however the server keeps up, or as fast as responses arrive. It
 * receives its order, sends `open` once its connections are open, and sends the figures at the end.
 */
export interface OpenLoopOrder {
  url: string;
  method?: string;
  body?: string;
  /** Connections opened in advance. */
  connections: number;
  /** As fast as connections become free if not given. */
  perSecond?: number;
  seconds: number;
}

export interface OpenLoopFigures {
  /** Responses by status; 0 means no response. */
  statuses: Record<number, number>;
  /** The median and p99 of the responses with 200, in milliseconds. */
  median: number;
  p99: number;
  /** Requests not sent because every connection was waiting for a response. */
  unsent: number;
  seconds: number;
  /** When the load ended, in milliseconds of the clock. */
  endedAt: number;
}

/** Milliseconds between checks for due requests. */
const tick = 5;
/** Connections opened at once: a server's backlog is limited. */
const step = 50;

const [order] = (await once(process, 'message')) as [OpenLoopOrder];
const { perSecond = Number.POSITIVE_INFINITY } = order;
const url = new URL(order.url);
const body = order.body ?? '';
const lines = [
  `${order.method ?? 'GET'} ${url.pathname}${url.search} HTTP/1.1`,
  ...[`Host: ${url.host}`, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`],
];
const request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
const free: Connection[] = [];
while (free.length < order.connections) {
  const size = Math.min(step, order.connections - free.length);
  free.push(...(await Promise.all(Array.from({ length: size }, () => openConnection(url)))));
}
process.send?.('open');
let isOver = false;
const statuses: Record<number, number> = {};
const times: number[] = [];
const began = performance.now();
let sent = 0;
let unsent = 0;

const pump = (): void => {
  const elapsed = (performance.now() - began) / 1000;
  if (isOver) return;
  if (elapsed >= order.seconds) {
    finish(elapsed);
    return;
  }
  const due = elapsed * perSecond;
  while (sent + unsent < due) {
    const connection = free.shift();
    if (!connection) break;
    void ask(connection);
  }
  // A request that finds every connection busy is dropped.
  if (Number.isFinite(due)) unsent = Math.max(unsent, Math.ceil(due) - sent);
};

const ask = async (connection: Connection): Promise<void> => {
  sent += 1;
  const start = performance.now();
  const status = await connection.ask(request);
  if (status === 200) times.push(performance.now() - start);
  statuses[status] = (statuses[status] ?? 0) + 1;
  free.push(connection);
  if (!Number.isFinite(perSecond)) pump();
};

const finish = (seconds: number): void => {
  isOver = true;
  const figures: OpenLoopFigures = {
    statuses,
    unsent,
    seconds,
    median: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    endedAt: performance.timeOrigin + performance.now(),
  };
  // Pending responses are abandoned.
  process.send?.(figures, () => process.exit());
};

setInterval(pump, tick);
pump();
