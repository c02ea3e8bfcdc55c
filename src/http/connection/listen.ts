import { lookup } from 'node:dns/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

/** At least one: a name without any is not found. */
type Addresses = readonly [string, ...string[]];

/**
 * Listens on the addresses; resolves to the first one's. Connections to the others are handed to the same server, so
 * its limits count for all.
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

/** All that localhost is on this machine; any other host as it is. */
export const listAddresses = async (host: string): Promise<Addresses> => {
  if (host.toLowerCase() !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))] as unknown as Addresses;
};

/** A second address is a convenience: where it is not available, as ::1 without IPv6, the first one will do. */
const listenToo = (app: FastifyInstance, host: string, port: number, log: FastifyBaseLogger): Server => {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    app.server.emit('connection', socket);
  });
  server.maxConnections = app.server.maxConnections;
  server.on('error', (error) => log.debug({ err: error }, 'the second address is not listened on'));
  return server.listen(port, host);
};
