import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import * as attacks from '../../test/support/attacks.ts';

const pause = 100;
const lists = ['/api/tasks?limit=1000000', '/simple/api/tasks', '/api/alerts?count=10000'];
const largeTask = { Title: 'x', Description: 'x'.repeat(900_000) };
const head = 'HTTP/1.1\r\nHost: localhost\r\n';

/** Clients that take all that they can get and keep it; one whose connection is closed opens it again. */
const stay =
  (use: (socket: Socket) => void) =>
  async (url: string, clients: number): Promise<void> => {
    const { hostname, port } = new URL(url);
    const open = (): void => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.on('error', () => undefined).once('connect', () => use(socket));
      socket.once('close', () => setTimeout(open, pause)).resume();
    };
    for (let opened = 1; opened <= clients; opened += 1) {
      open();
      // A server's backlog is limited.
      if (opened % 50 === 0) await wait(pause);
    }
  };

/** Sends some text, and then a piece at intervals. */
const drip = (text: string | Buffer, piece: string, everyMs: number) =>
  stay((socket) => {
    socket.write(text);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.once('close', () => clearInterval(timer));
  });

/** Sends a request as soon as there is a response to the one before. */
const hurry = (request: string) =>
  stay((socket) => {
    socket.write(request);
    socket.on('data', (chunk: Buffer) => chunk.includes('HTTP/1.1 ') && socket.write(request));
  });

const health = `GET /health ${head}\r\n`;
const longBody = `POST /api/tasks ${head}Content-Length: 1048576\r\n\r\n${' '.repeat(1_048_500)}`;

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
  // Just often enough for the connection to stay open.
  'keep-alive': drip(health, health, 4000),
  'slow headers': drip(`POST /api/tasks ${head}X-Slow: `, '0', 2000),
  'dripped bodies': drip(longBody, ' ', 700),
  streams: stay((socket) => socket.write(`GET /api/events?topics=tasks ${head}\r\n`)),
  'large tasks': hurry(attacks.toPost('/api/tasks', largeTask)),
  guesses: hurry(attacks.login),
};

/** Attacks a server; resolves once the connections are open. They stay open. */
export const start = async (url: string, name: keyof typeof attackers, clients: number): Promise<void> => {
  await attackers[name](url, clients);
};
