import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import * as attacks from '../../test/support/attacks.ts';
import { createPost, type LoadRequest, password } from '../support/requests.ts';

const pause = 100;
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
const slowHead = `POST /api/tasks ${head}X-Slow: `;
const longBody = `POST /api/tasks ${head}Content-Length: 1048576\r\n\r\n${' '.repeat(1_048_500)}`;
const lists = ['/api/tasks?limit=1000000', '/simple/api/tasks', '/api/alerts?count=10000'];

type Attack = (url: string, clients: number) => Promise<unknown>;

const logInAndReset: Attack = (url, clients) => attacks.sendAndReset(url, clients, attacks.login);

/** Clients that try to use up memory, connections or time: how many, and what they do. */
export const hostile: [name: string, clients: number, does: string, attack: Attack][] = [
  ['header lines', 60, 'pipeline 498 requests with 3,990 empty header lines each', attacks.pipelineHeaderLines],
  ['long headers', 60, 'pipeline 498 requests with 190 header lines and 16 KB each', attacks.pipelineLongHeaders],
  ['short requests', 60, 'pipeline 20 MB of requests with 41 bytes each', attacks.pipelineShortRequests],
  ['idle', 1050, 'send nothing to a server with 1,024 open files', attacks.stayIdle],
  ['slow headers', 1000, 'send a byte of a header every two seconds', drip(slowHead, '0', 2000)],
  ['not reading', 600, 'request lists and do not read', (url, clients) => attacks.stopReading(url, clients, lists)],
  ['bodies', 990, 'send 1 MiB without its last byte', attacks.leaveBodiesUnfinished],
  ['chunks', 40, 'send 1 MiB without its last byte, in chunks of one byte', attacks.leaveChunksUnfinished],
  ['resets', 200, 'log in and reset the connection', logInAndReset],
  ['alerts', 32, 'list alerts of a level that a log of 0.9 GB does not have', attacks.listAlerts],
];

const createTask = createPost('/api/tasks', { Title: 'x', Description: 'x'.repeat(20_000) });
const createLarge = attacks.toPost('/api/tasks', { Title: 'x', Description: 'x'.repeat(900_000) });
const login = createPost('/api/auth/login', { Username: 'admin', Password: password });
const eventStream = `GET /api/events?topics=tasks ${head}\r\n`;

/** Clients that take all that they can get: how many, and the path that another address asks meanwhile. */
export const greedy: [name: string, clients: number, asked: LoadRequest, attack: Attack][] = [
  // Just often enough for the connection to stay open.
  ['keep-alive', 1100, createPost('/api/alert', { message: 'x' }), drip(health, health, 4000)],
  ['dripped bodies', 64, createTask, drip(longBody, ' ', 700)],
  ['streams', 200, { url: '/api/events?topics=tasks' }, stay((socket) => socket.write(eventStream))],
  ['guesses', 50, login, hurry(attacks.login)],
  ['large tasks', 4, { url: '/api/tasks?limit=1' }, hurry(createLarge)],
];

/** Starts the attack of this name; resolves once the connections are open. They stay open. */
export const start = async (url: string, name: string): Promise<void> => {
  for (const [own, clients, , attack] of [...hostile, ...greedy]) if (own === name) await attack(url, clients);
};
