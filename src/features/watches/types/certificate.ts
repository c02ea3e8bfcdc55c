import type { X509Certificate } from 'node:crypto';
import { parseCertificates } from '../../../kit/authorities.ts';
import { toLocalDay } from '../../../lib/local-time.ts';
import { readSmallFile } from '../../../lib/small-file.ts';
import { dayMs } from '../../../lib/units.ts';
import type { FigureLimits } from '../condition.ts';
import { defineWatchType, type Finding } from '../watch-type.ts';
import { type ChainEnd, findChainEnd } from './chain.ts';
import { readServerCertificate } from './network.ts';
import { toBareHost, toServerName } from './socket.ts';
import { findTrustProblem, readTrust } from './trust.ts';

const defaultPort = 443;

/**
 * Measures the days until a certificate in a PEM file or on a server expires. The certificates of its signers also
 * count.
 */
export const certificateWatch = defineWatchType({
  name: 'certificate',
  scope: ({ path }) => (path === undefined ? 'network' : 'machine'),
  keys: ['path', 'host', 'port', 'ca', 'caFile'],
  limit: 'optional',
  defaultLimit: 14,
  isLowBad: () => true,
  every: 60,
  findProblem: ({ path, host, port, ...trusted }) => {
    if ((path === undefined) === (host === undefined)) return 'set either path or host';
    return path !== undefined && port !== undefined ? 'port needs host' : findTrustProblem(trusted);
  },
  check: async (watch, { reach, clock }, signal) => {
    const { path, host = '', port = defaultPort } = watch;
    const { authorities } = await readTrust(watch);
    if (path === undefined) {
      const bare = toBareHost(host);
      const end = await readServerCertificate(bare, port, { reach, authorities }, signal);
      return [toDaysFinding(toServerName({ host: bare, port }), end, clock())];
    }
    const text = await readSmallFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${path} cannot be read (${error.code ?? error.message})`);
    });
    const end = readEnd(text, authorities);
    if (!end) throw new Error(`${path} has no certificate`);
    return [toDaysFinding(path, end, clock())];
  },
});

const readEnd = (text: string, authorities: readonly X509Certificate[]): ChainEnd | undefined => {
  try {
    return findChainEnd(parseCertificates(text), authorities);
  } catch {
    return undefined;
  }
};

/** Returns whole days as text. */
export const toDaysText = (days: number): string => `${Math.floor(days)} days`;

export const toDaysFinding = (
  thing: string,
  { validTo, signer }: ChainEnd,
  now: Date,
  limits?: FigureLimits,
): Finding => {
  const days = (validTo.getTime() - now.getTime()) / dayMs;
  const date = toLocalDay(validTo.getTime());
  const isNamed = thing.endsWith(' certificate');
  const own = isNamed ? thing : `the certificate of ${thing}`;
  const what = signer === undefined ? own : `${own} was signed by ${signer}, whose certificate`;
  const words = days < 0 ? `${what} expired on ${date}` : `${what} is valid for ${toDaysText(days)}, until ${date}`;
  return { thing, figure: days, toText: toDaysText, words, ...(limits && { limits }) };
};
