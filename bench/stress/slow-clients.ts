import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

/**
 * A process that opens slow connections to a server on this machine and reports how many of them the server still
 * holds. It receives its order.
 */

/** Reported once all are open, and then every second: how many connections the server still holds. */
export interface SlowReport {
  open: Record<SlowKind, number>;
  /** Seconds since all were open. */
  seconds: number;
}

export interface SlowOrder {
  port: number;
  /** A path with a long response. */
  path: string;
  counts: Record<SlowKind, number>;
}

/** What the connection does slowly. */
export type SlowKind = 'headers' | 'body' | 'reading';

const host = '127.0.0.1';
/** Connections opened at once: more than the backlog would wait for a second. */
const step = 50;
/** Milliseconds between two bytes sent, or two pieces read. */
const pause = 2000;
const pieceBytes = 100;
const established = '01';

const head = `HTTP/1.1\r\nHost: ${host}\r\n`;
const openings: Record<SlowKind, (path: string) => string> = {
  headers: () => `POST /api/tasks ${head}Content-Length: 1000\r\nX-Slow: `,
  body: () => `POST /api/tasks ${head}Content-Length: 1000\r\n\r\n{"Title":"`,
  reading: (path) => `GET ${path} ${head}\r\n`,
};

/** Opens a connection; resolves to its local port. */
const open = (kind: SlowKind, { port, path }: SlowOrder): Promise<number> =>
  new Promise((resolve, reject) => {
    const onread = { buffer: Buffer.alloc(pieceBytes), callback: () => kind !== 'reading' };
    const socket = connect({ port, host, onread }, () => {
      resolve(socket.localPort ?? 0);
      // Later errors are caused by the server.
      socket.removeListener('error', reject).on('error', () => undefined);
      socket.write(openings[kind](path));
    });
    socket.on('error', reject);
    const timer = setInterval(() => (kind === 'reading' ? socket.resume() : socket.write('0')), pause);
    socket.on('close', () => clearInterval(timer));
  });

/** Ports of clients connected to the server's port. */
const readClients = (port: number): Set<number> => {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const mine = rows.map((row) => row.trim().split(/\s+/)).filter(([, from]) => from === local);
  return new Set(
    mine.flatMap(([, , to, state]) => (state === established ? Number.parseInt(to?.slice(9) ?? '', 16) : [])),
  );
};

const [order] = (await once(process, 'message')) as [SlowOrder];

/** Opens all connections of one kind; resolves to their local ports. */
const openAll = async (kind: SlowKind): Promise<number[]> => {
  const ports: number[] = [];
  while (ports.length < order.counts[kind]) {
    const size = Math.min(step, order.counts[kind] - ports.length);
    ports.push(...(await Promise.all(Array.from({ length: size }, () => open(kind, order)))));
  }
  return ports;
};

const [reading, body, headers] = [await openAll('reading'), await openAll('body'), await openAll('headers')];
const began = performance.now();
const report = (): void => {
  const there = readClients(order.port);
  const count = (ports: number[]) => ports.filter((port) => there.has(port)).length;
  const open = { headers: count(headers), body: count(body), reading: count(reading) };
  process.send?.({ open, seconds: (performance.now() - began) / 1000 } satisfies SlowReport);
};
report();
setInterval(report, 1000);
