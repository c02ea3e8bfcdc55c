import { execFile } from 'node:child_process';
import { findProgram } from '../../../host/programs.ts';
import type { Targets } from '../../../kit/targets.ts';
import { defineWatchType, toMsText } from '../watch-type.ts';
import { toNetworkFailure } from './failures.ts';
import { toBareHost } from './network.ts';

const pingPaths = ['/usr/bin/ping', '/bin/ping', '/sbin/ping'];

/** Bytes of the output of `ping` that are read. */
const maxOutputBytes = 16_384;

/** Checks with the system's `ping`, which needs no privileges, that a host answers, and the round-trip time. */
export const pingWatch = defineWatchType({
  name: 'ping',
  scope: () => 'network',
  keys: ['host'],
  required: ['host'],
  limit: 'optional',
  defaultLevel: 'ERROR',
  every: 60,
  findProblem: ({ host = '' }) => (/^[\w.:%[\]-]+$/.test(host) ? undefined : 'host must be a name or an address'),
  check: async ({ host = '', limit }, { targets }, signal) => {
    const thing = toBareHost(host);
    const address = await resolveHost(thing, targets, signal);
    const ms = await ping(address, signal);
    if (ms === undefined) return [{ thing, isBad: true, words: `${thing} does not answer a ping` }];
    const words = `${thing} answers a ping after ${toMsText(ms)}`;
    return [
      limit === undefined ? { thing, isBad: false, figure: ms, words } : { thing, figure: ms, toText: toMsText, words },
    ];
  },
});

/** Resolves to an allowed address of a host. Rejects with an Error whose message is the reason. */
const resolveHost = (host: string, { assertHost, lookup }: Targets, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    assertHost(host);
    lookup(host, {}, (error, address) => {
      if (error) reject(toNetworkFailure(error, signal));
      else resolve(String(address));
    });
  });

/** Resolves to the milliseconds of the round trip; undefined without an answer. Rejects if `ping` cannot run. */
const ping = async (address: string, signal: AbortSignal): Promise<number | undefined> => {
  const program = await findProgram(pingPaths);
  if (program === null) throw new Error('the program ping is not installed');
  const options = { signal, env: { LC_ALL: 'C' }, maxBuffer: maxOutputBytes };
  return new Promise((resolve, reject) => {
    // The address is from a look-up, so it is no option. Exit code 1: no answer; 2: another failure.
    execFile(program, ['-n', '-q', '-c', '1', address], options, (error, stdout, stderr) => {
      const [, time] = /= ([\d.]+)\//.exec(stdout) ?? [];
      if (!error && time !== undefined) resolve(Number(time));
      else if (signal.aborted || error?.code === 1) resolve(undefined);
      else reject(new Error(`ping failed: ${stderr.trim().split('\n', 1)[0] || (error?.message ?? 'no output')}`));
    });
  });
};
