import { lookup } from 'node:dns/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

/** Never empty: looking up a name without addresses fails. */
type Addresses = readonly [string, ...string[]];

/**
 * Listens on all addresses; resolves to the first. Connections to the others are handed to the same server, so its
 * limits apply to all.
 */
export const listenOn = async (
  app: FastifyInstance,
  [first, ...rest]: Addresses,
  port: number,
  log: FastifyBaseLogger,
): Promise<AddressInfo> => {
  const others: Server[] = [];
  app.addHook('preClose', async () => others.forEach((other) => void other.close()));
  await app.listen({ host: first, port });
  const address = app.server.address() as AddressInfo;
  others.push(...rest.map((each) => listenToo(app, each, address.port, log)));
  return address;
};

/** All addresses of localhost; any other host unchanged. */
export const listAddresses = async (host: string): Promise<Addresses> => {
  if (host.toLowerCase() !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))] as unknown as Addresses;
};

/** The second address is optional: `::1`, for example, is missing without IPv6. */
const listenToo = (app: FastifyInstance, host: string, port: number, log: FastifyBaseLogger): Server => {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    app.server.emit('connection', socket);
  });
  server.maxConnections = app.server.maxConnections;
  server.on('error', (error) => log.debug({ err: error }, 'not listening on the second address'));
  return server.listen(port, host);
};
