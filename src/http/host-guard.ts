import { BlockList, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

interface HostNames {
  /** The address the server is bound to. */
  boundTo: string;
  /** This machine's name. */
  machine: string;
  /** Names allowed by the settings. */
  allowed: readonly string[];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether the address or name reaches this machine alone. */
export const isLoopback = (host: string): boolean => {
  const family = isIP(host);
  return family === 0
    ? host.toLowerCase() === 'localhost'
    : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
};

/**
 * Refuses requests that are addressed to a name which is not this service's: so a web page cannot reach it by
 * pointing a name of its own at 127.0.0.1 (DNS rebinding). Bound beyond loopback, only a list that is set counts.
 */
export const guardHost = (app: FastifyInstance, { boundTo, machine, allowed }: HostNames): void => {
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      throw new HttpError('invalid', 'The header Host is missing');
    }
  });
  const isLocal = isLoopback(boundTo);
  if (!isLocal && allowed.length === 0) return;
  const names = new Set([...allowed, ...(isLocal ? [machine] : [])].map((name) => name.toLowerCase()));
  app.addHook('onRequest', async ({ headers }) => {
    const name = toHostName(headers.host);
    if (!names.has(name) && !(isLocal && isLoopback(name))) {
      throw new HttpError('forbidden', 'This host name is not served here; see the setting allowedHosts');
    }
  });
};

/** `[::1]:8080` → `::1`, `Example.org:80` → `example.org`. */
const toHostName = (host = ''): string => {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
};
