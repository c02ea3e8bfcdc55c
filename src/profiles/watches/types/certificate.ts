import { X509Certificate } from 'node:crypto';
import { readSmallFile } from '../../../host/files.ts';
import type { FigureLimits } from '../condition.ts';
import { defineWatchType, type Finding } from '../type.ts';
import { readServerCertificate } from './network.ts';

const dayMs = 86_400_000;
const usualPort = 443;

/** Days until a certificate ends: of a PEM file, or the one that a server shows. */
export const certificateWatch = defineWatchType({
  name: 'certificate',
  scope: ({ path }) => (path === undefined ? 'network' : 'machine'),
  keys: ['path', 'host', 'port'],
  limit: 'optional',
  usualLimit: 14,
  isLowBad: () => true,
  every: 60,
  findProblem: ({ path, host, port }) => {
    if ((path === undefined) === (host === undefined)) return 'either path or host is needed';
    return path !== undefined && port !== undefined ? 'port belongs to host' : undefined;
  },
  check: async ({ path, host = '', port = usualPort }, { targets, clock }, signal) => {
    if (path === undefined) {
      const validTo = await readServerCertificate(host, port, targets, signal);
      return [toDaysFinding(`${host}:${port}`, validTo, clock())];
    }
    const text = await readSmallFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${path} cannot be read (${error.code ?? error.message})`);
    });
    return [toDaysFinding(path, parseEnd(path, text), clock())];
  },
});

const parseEnd = (path: string, text: string): Date => {
  try {
    return new Date(new X509Certificate(text).validTo);
  } catch {
    throw new Error(`${path} has no certificate`);
  }
};

const toDays = (days: number): string => `${Math.floor(days)} days`;

export const toDaysFinding = (thing: string, validTo: Date, now: Date, limits?: FigureLimits): Finding => {
  const days = (validTo.getTime() - now.getTime()) / dayMs;
  const date = validTo.toISOString().slice(0, 10);
  const what = thing.endsWith(' certificate') ? thing : `the certificate of ${thing}`;
  const words = days < 0 ? `${what} has expired on ${date}` : `${what} is valid for ${toDays(days)}, until ${date}`;
  return { thing, figure: days, toText: toDays, words, ...(limits && { limits }) };
};
