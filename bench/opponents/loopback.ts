import { Server } from 'node:net';

/** Preloaded into json-server, so that it listens only on the loopback address instead of on all addresses. */
const { listen } = Server.prototype;

Server.prototype.listen = function (this: Server, port: unknown, ...rest: unknown[]): Server {
  const listener = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined;
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, listener);
} as Server['listen'];
