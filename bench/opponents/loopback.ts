import { Server } from 'node:net';

/** Restricts json-server, which always listens on all addresses, to this machine; preloaded. */
const { listen } = Server.prototype;

Server.prototype.listen = function (this: Server, port: unknown, ...rest: unknown[]): Server {
  const listener = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined;
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, listener);
} as Server['listen'];
