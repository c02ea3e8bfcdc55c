import { execFile } from 'node:child_process';
import { findProgram, isAccessible } from '../programs.ts';

/** What exists where systemd runs. */
const bootMark = '/run/systemd/system';

interface OutputLimits {
  ms: number;
  bytes: number;
}

/** What a program of systemd prints; null where it is missing or systemd does not run. Rejects if it fails or takes too long. */
export const readSystemdOutput = async (
  paths: readonly string[],
  args: readonly string[],
  { ms, bytes }: OutputLimits,
): Promise<string | null> => {
  const program = await findProgram(paths);
  if (program === null || !(await isAccessible(bootMark))) return null;
  return new Promise((resolve, reject) => {
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };
    const options = { timeout: ms, maxBuffer: bytes, killSignal: 'SIGKILL' as const, env };
    execFile(program, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
};
