import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Clients that take all that they can get and keep it; a connection that is closed is opened again. */

/** Connections opened at once, and milliseconds before one is opened again. */
const step = 50;
const pause = 100;

const toRequest = (line: string, headers = ''): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

/** Uses an open connection until it is closed. */
type Use = (socket: Socket) => void;

const repeat = (socket: Socket, text: string, everyMs: number): void => {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
};

const open = (url: string): Socket => {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), noDelay: true }).on('error', () => undefined);
};

const stay = async (url: string, use: Use): Promise<void> => {
  for (;;) {
    const socket = open(url);
    const closed = once(socket, 'close');
    socket.once('connect', () => use(socket));
    socket.resume();
    await closed.catch(() => undefined);
    await setTimeout(pause);
  }
};

const stayAll = async (url: string, clients: number, use: Use): Promise<void> => {
  for (let opened = 0; opened < clients; opened += step) {
    for (let client = opened; client < Math.min(clients, opened + step); client += 1) void stay(url, use);
    await setTimeout(pause);
  }
};

/** A request every four seconds, just often enough for the connection to stay open. */
export const keepAlive = (url: string, clients: number): Promise<void> =>
  stayAll(url, clients, (socket) => {
    socket.write(toRequest('GET /health'));
    repeat(socket, toRequest('GET /health'), 4000);
  });

const bodyBytes = 2 ** 20;
const missingBytes = 76;

/** Bodies that are complete but for some bytes, which follow one by one. */
export const dripBodies = (url: string, clients: number): Promise<void> =>
  stayAll(url, clients, (socket) => {
    socket.write(toRequest('POST /api/tasks', `Content-Length: ${bodyBytes}\r\n`));
    socket.write(Buffer.alloc(bodyBytes - missingBytes, ' '));
    repeat(socket, ' ', 700);
  });

export const openStreams = (url: string, clients: number): Promise<void> =>
  stayAll(url, clients, (socket) => socket.write(toRequest('GET /api/events?topics=tasks')));

const largeTask = JSON.stringify({ Title: 'x', Description: 'x'.repeat(900_000) });

/** Large tasks, one after the other on each connection. */
export const postTasks = (url: string, clients: number): Promise<void> =>
  stayAll(url, clients, (socket) => {
    const post = (): void => {
      socket.write(toRequest('POST /api/tasks', `Content-Length: ${largeTask.length}\r\n`) + largeTask);
    };
    post();
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('HTTP/1.1 ')) post();
    });
  });
