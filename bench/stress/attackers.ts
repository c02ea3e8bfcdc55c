import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import * as attacks from '../../test/support/attacks.ts';

/**
 * A process that attacks a server. It receives its order, sends `attacking` once its connections are open, and keeps
 * them open; a greedy client whose connection is closed opens it again.
 */
export interface AttackOrder {
  url: string;
  name: keyof typeof attackers;
  clients: number;
}

/** Connections opened at once, and milliseconds before one is opened again. */
const step = 50;
const pause = 100;
const lists = ['/api/tasks?limit=1000000', '/simple/api/tasks', '/api/alerts?count=10000'];
const bodyBytes = 2 ** 20;
const missingBytes = 76;
const largeTask = JSON.stringify({ Title: 'x', Description: 'x'.repeat(900_000) });

const toRequest = (line: string, headers = ''): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

const stay = async (url: string, use: (socket: Socket) => void): Promise<never> => {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }).on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.once('connect', () => use(socket));
    socket.resume();
    await closed.catch(() => undefined);
    await setTimeout(pause);
  }
};

/** Clients that take all that they can get and keep it. */
const stayAll =
  (use: (socket: Socket) => void) =>
  async (url: string, clients: number): Promise<void> => {
    for (let opened = 0; opened < clients; opened += step) {
      for (let client = opened; client < Math.min(clients, opened + step); client += 1) void stay(url, use);
      await setTimeout(pause);
    }
  };

const repeat = (socket: Socket, text: string, everyMs: number): void => {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
};

/** Sends a request as soon as there is a response to the one before. */
const hurry = (request: string) => (socket: Socket) => {
  socket.write(request);
  socket.on('data', (chunk: Buffer) => chunk.includes('HTTP/1.1 ') && socket.write(request));
};

const attackers = {
  'header lines': attacks.pipelineHeaderLines,
  'long headers': attacks.pipelineLongHeaders,
  'short requests': attacks.pipelineShortRequests,
  'not reading': (url: string, clients: number) => attacks.stopReading(url, clients, lists),
  bodies: attacks.leaveBodiesUnfinished,
  chunks: attacks.leaveChunksUnfinished,
  idle: attacks.stayIdle,
  resets: (url: string, clients: number) => attacks.sendAndReset(url, clients, attacks.login),
  alerts: attacks.listAlerts,
  /** A request every four seconds, just often enough for the connection to stay open. */
  'keep-alive': stayAll((socket) => {
    socket.write(toRequest('GET /health'));
    repeat(socket, toRequest('GET /health'), 4000);
  }),
  /** Headers of which a byte follows every two seconds. */
  'slow headers': stayAll((socket) => {
    socket.write('POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    repeat(socket, '0', 2000);
  }),
  /** Bodies that are complete but for some bytes, which follow one by one. */
  'dripped bodies': stayAll((socket) => {
    socket.write(toRequest('POST /api/tasks', `Content-Length: ${bodyBytes}\r\n`));
    socket.write(Buffer.alloc(bodyBytes - missingBytes, ' '));
    repeat(socket, ' ', 700);
  }),
  streams: stayAll((socket) => socket.write(toRequest('GET /api/events?topics=tasks'))),
  'large tasks': stayAll(hurry(toRequest('POST /api/tasks', `Content-Length: ${largeTask.length}\r\n`) + largeTask)),
  guesses: stayAll(hurry(attacks.login)),
};

const [{ url, name, clients }] = (await once(process, 'message')) as [AttackOrder];
await attackers[name](url, clients);
process.send?.('attacking');
