import { lookup } from 'node:dns/promises';
import { type AddressInfo, BlockList, createServer, isIP, type Server } from 'node:net';
import { type SecureContextOptions, Server as TlsServer } from 'node:tls';
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

/** A certificate with its chain, and its key, both PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** RFC 8996 forbids TLS 1.0 and 1.1; set explicitly, so no flag of Node can enable them. */
export const toTlsOptions = (certificate: Certificate): SecureContextOptions => ({
  ...certificate,
  minVersion: 'TLSv1.2',
});

/** New connections use the new certificate; open ones keep theirs. */
export const renewCertificate = ({ server }: FastifyInstance, certificate: Certificate): void => {
  if ((server as unknown) instanceof TlsServer) {
    (server as unknown as TlsServer).setSecureContext(toTlsOptions(certificate));
  }
};

/** Makes the function that tells whether an address is that of a proxy whose X-Forwarded-For is trusted. */
export const createProxyCheck = (blocks: readonly string[]): ((address: string | undefined) => boolean) => {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', prefix] = block.split('/');
    const family = toFamily(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address = '') => blocks.length > 0 && isIP(address) !== 0 && list.check(address, toFamily(address));
};

const toFamily = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
