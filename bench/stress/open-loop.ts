import { Agent, type ClientRequest, request } from 'node:http';
import { quantile } from '../support/figures.ts';

/**
 * A process that sends one request at a fixed rate, whether the server keeps up or not, or as fast as answers come.
 * `node open-loop.js '{"url": "http://127.0.0.1:8080/", "connections": 64, "seconds": 5}'`
 */
export interface OpenLoopOrder {
  url: string;
  method?: string;
  body?: string;
  connections: number;
  /** As fast as connections become free where it is not given. */
  perSecond?: number;
  seconds: number;
  /** Ends after so many requests, where those come first. */
  amount?: number;
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

const order = JSON.parse(process.argv[2] ?? '') as OpenLoopOrder;
const { perSecond = Number.POSITIVE_INFINITY, amount = Number.POSITIVE_INFINITY } = order;
const options = {
  method: order.method ?? 'GET',
  agent: new Agent({ keepAlive: true, maxSockets: order.connections }),
  headers: { 'content-type': 'application/json' },
};
const running = new Set<ClientRequest>();
const statuses: Record<number, number> = {};
const times: number[] = [];
let unsent = 0;
const began = performance.now();
let sent = 0;
let isOver = false;

const pump = (): void => {
  const elapsed = (performance.now() - began) / 1000;
  const due = Math.min(amount, elapsed * perSecond);
  while (sent + unsent < due && running.size < order.connections) send();
  // Who finds every connection busy goes away.
  if (Number.isFinite(perSecond)) unsent = Math.max(unsent, Math.ceil(due) - sent);
  if (elapsed >= order.seconds || (sent + unsent >= amount && running.size === 0)) finish(elapsed);
};

const send = (): void => {
  sent += 1;
  const start = performance.now();
  const client = request(order.url, options, (response) => {
    response.resume();
    response.on('close', () => end(client, response.complete ? (response.statusCode ?? 0) : 0, start));
  });
  running.add(client);
  client.on('error', () => end(client, 0, start));
  client.end(order.body);
};

const end = (client: ClientRequest, status: number, start: number): void => {
  if (isOver || !running.delete(client)) return;
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (status === 200) times.push(performance.now() - start);
  if (!Number.isFinite(perSecond)) pump();
};

const finish = (seconds: number): void => {
  if (isOver) return;
  isOver = true;
  clearInterval(timer);
  for (const client of running) client.destroy();
  options.agent.destroy();
  const figures: OpenLoopFigures = {
    statuses,
    unsent,
    seconds,
    median: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    endedAt: performance.timeOrigin + performance.now(),
  };
  process.send?.(figures, () => process.disconnect());
};

const timer = setInterval(pump, tick);
