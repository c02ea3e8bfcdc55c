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
const longBody = `POST /api/tasks ${head}Content-Length: 1048576\r\n\r\n${' '.repeat(1_048_500)}`;

const createTask = createPost('/api/tasks', { Title: 'x', Description: 'x'.repeat(20_000) });
const createLarge = attacks.toPost('/api/tasks', { Title: 'x', Description: 'x'.repeat(900_000) });
const login = createPost('/api/auth/login', { Username: 'admin', Password: password });
const eventStream = `GET /api/events?topics=tasks ${head}\r\n`;

/** Clients that take all that they can get: how many, and the path that another address asks meanwhile. */
export const greedy: [name: string, clients: number, asked: LoadRequest, attack: ReturnType<typeof stay>][] = [
  // Just often enough for the connection to stay open.
  ['keep-alive', 1100, createPost('/api/alert', { message: 'x' }), drip(health, health, 4000)],
  ['dripped bodies', 64, createTask, drip(longBody, ' ', 700)],
  ['streams', 200, { url: '/api/events?topics=tasks' }, stay((socket) => socket.write(eventStream))],
  ['guesses', 50, login, hurry(attacks.login)],
  ['large tasks', 4, { url: '/api/tasks?limit=1' }, hurry(createLarge)],
];

/** Starts the attack of this name; resolves once the connections are open. They stay open. */
export const start = async (url: string, name: string): Promise<void> => {
  for (const [own, clients, , attack] of greedy) if (own === name) await attack(url, clients);
};
