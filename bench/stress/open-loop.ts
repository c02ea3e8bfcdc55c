import { once } from 'node:events';
import { quantile } from '../support/figures.ts';
import { type Connection, openConnection } from './connection.ts';

/**
 * A process that sends one request at a fixed rate, whether the server keeps up or not, or as fast as answers come. It
 * is sent its order, and sends `open` when its connections are, and figures when it is done.
 */
export interface OpenLoopOrder {
  url: string;
  method?: string;
  body?: string;
  /** Opened before it begins. */
  connections: number;
  /** As fast as connections become free where it is not given. */
  perSecond?: number;
  seconds: number;
}

export interface OpenLoopFigures {
  /** Answers by status; 0 stands for none. */
  statuses: Record<number, number>;
  /** Milliseconds that 50 and 99 % of the answers with 200 took at most. */
  median: number;
  p99: number;
  /** Requests that could not be sent, since every connection was waiting for an answer. */
  unsent: number;
  seconds: number;
  /** When it ended, in milliseconds of the clock. */
  endedAt: number;
}

/** Milliseconds between looks at what is due. */
const tick = 5;
/** Opened at once: a server keeps few waiting that it has not taken in. */
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
  // Who finds every connection busy goes away.
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
  // What still waits is cut off.
  process.send?.(figures, () => process.exit());
};

setInterval(pump, tick);
pump();
