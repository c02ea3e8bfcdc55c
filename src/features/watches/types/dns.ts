import type { CaaRecord, MxRecord, SoaRecord, SrvRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, toMsText } from '../watch-type.ts';

/** Reasons by c-ares error code. */
const reasons: Record<string, string> = {
  ENOTFOUND: 'the name does not exist',
  ENODATA: 'the name has no record of this type',
  ESERVFAIL: 'the name server reports a failure',
  EREFUSED: 'the name server refuses the request',
  ECONNREFUSED: 'no name server responds',
  ETIMEOUT: 'the name server does not respond',
  ECANCELLED: 'the name server does not respond',
  EBADRESP: 'the response of the name server is not valid',
  EFORMERR: 'the name server does not understand the request',
  ENOTIMP: 'the name server does not support the request',
};

/** Checks that a name server has a record, optionally with an expected value. */
export const dnsWatch = defineWatchType({
  name: 'dns',
  scope: () => 'network',
  keys: ['host', 'record', 'server', 'expected'],
  required: ['host'],
  limit: 'optional',
  defaultLevel: 'ERROR',
  every: 60,
  findProblem: ({ server }) => {
    if (server === undefined) return undefined;
    const { address, port = '53' } = splitServer(server);
    if (isIP(address) === 0)
      return 'server must be the address of a name server, such as 192.0.2.53 or [2001:db8::53]:53';
    if (Number(port) < 1 || Number(port) > 65_535) return `the port of server must be 1 to 65535, not ${port}`;
    return undefined;
  },
  check: async (watch, { reach }, signal) => {
    const { host = '', record = 'A', server, expected, limit } = watch;
    const thing = `${host} ${record}`;
    if (server !== undefined) reach.assertHost(splitServer(server).address);
    const begun = performance.now();
    const answers = await resolve(watch, signal).catch((error: NodeJS.ErrnoException) => {
      const reason = signal.aborted ? 'the name server does not respond' : reasons[error.code ?? ''];
      return reason ?? error.message;
    });
    const ms = performance.now() - begun;
    if (typeof answers === 'string') return [{ thing, isBad: true, words: `${thing}: ${answers}` }];
    const shown = answers.slice(0, maxShown).join(', ');
    if (expected !== undefined && !answers.some((answer) => isSame(record, answer, expected)))
      return [{ thing, isBad: true, words: `${thing} is ${shown}, not ${expected}` }];
    const words = `${thing} is ${shown}`;
    return [
      limit === undefined ? { thing, isBad: false, figure: ms, words } : { thing, figure: ms, toText: toMsText, words },
    ];
  },
});

/** Maximum number of answers shown in a reading. */
const maxShown = 5;

/** Compares names, ignoring case and a final dot. TXT records must be equal. */
const isSame = (record: string, one: string, other: string): boolean =>
  record === 'TXT' ? one === other : normalize(one) === normalize(other);

const normalize = (text: string): string => text.toLowerCase().replace(/\.$/, '');

/** Splits an address from its optional port: `192.0.2.53:5353`, `[2001:db8::53]:53`. */
const splitServer = (server: string): { address: string; port: string | undefined } => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? [];
  return { address: bracketed ?? plain ?? server, port };
};

const resolve = async (
  { host = '', record = 'A', server }: WatchSettings,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const resolver = new Resolver({ timeout: 2000, tries: 3 });
  if (server !== undefined) {
    const { address, port } = splitServer(server);
    resolver.setServers([`${isIP(address) === 6 ? `[${address}]` : address}${port === undefined ? '' : `:${port}`}`]);
  }
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const found = (await resolver.resolve(host, record)) as Answer[] | SoaRecord;
    return (Array.isArray(found) ? found : [found]).map(toText);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

type Answer = string | string[] | MxRecord | SrvRecord | SoaRecord | CaaRecord;

/** Converts an answer to the text form used in zone files. */
const toText = (answer: Answer): string => {
  if (typeof answer === 'string') return answer;
  // A TXT record's parts form one text.
  if (Array.isArray(answer)) return answer.join('');
  if ('exchange' in answer) return `${answer.priority} ${answer.exchange}`;
  if ('weight' in answer) return `${answer.priority} ${answer.weight} ${answer.port} ${answer.name}`;
  if ('nsname' in answer) return `${answer.nsname} ${answer.hostmaster} ${answer.serial}`;
  const { critical, ...properties } = answer;
  return `${critical} ${Object.entries(properties).flat().join(' ')}`;
};
