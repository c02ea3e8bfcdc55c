import { execFile } from 'node:child_process';
import { findProgram } from './programs.ts';

const pingPaths = ['/usr/bin/ping', '/bin/ping', '/sbin/ping'];

/** Maximum number of bytes read from `ping`'s output. */
const maxOutputBytes = 16_384;

/** Resolves to the round-trip time in milliseconds. Undefined without a reply. Rejects if `ping` cannot run. */
export const ping = async (address: string, signal: AbortSignal): Promise<number | undefined> => {
  const program = await findProgram(pingPaths);
  if (program === null) throw new Error('the program ping is not installed');
  const options = { signal, env: { LC_ALL: 'C' }, maxBuffer: maxOutputBytes };
  return new Promise((resolve, reject) => {
    // The address comes from a lookup, so it cannot be an option. Exit code 1 means no reply, and 2 any other failure.
    execFile(program, ['-n', '-q', '-c', '1', address], options, (error, stdout, stderr) => {
      const [, time] = /= ([\d.]+)\//.exec(stdout) ?? [];
      if (!error && time !== undefined) resolve(Number(time));
      else if (signal.aborted || error?.code === 1) resolve(undefined);
      else reject(new Error(`ping failed: ${stderr.trim().split('\n', 1)[0] || (error?.message ?? 'no output')}`));
    });
  });
};
