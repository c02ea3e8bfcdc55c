import { execFile } from 'node:child_process';
import { findProgram, isAccessible } from '../programs.ts';
import type { UnitReading } from '../readings.ts';

const paths = ['/usr/bin/systemctl', '/bin/systemctl'];

/** What exists where systemd runs. */
const bootMark = '/run/systemd/system';

const limitMs = 10_000;
const maxBytes = 8 * 1024 * 1024;

const list = ['list-units', '--all', '--plain', '--no-legend', '--no-pager', '--full'];

/** Reads `HostReadings.units`. */
export const readLoadedUnits = async (): Promise<UnitReading[] | null> => {
  const program = await findProgram(paths);
  if (program === null || !(await isAccessible(bootMark))) return null;
  const output = await new Promise<string>((resolve, reject) => {
    const options = { timeout: limitMs, maxBuffer: maxBytes, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' } };
    execFile(program, list, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
  return parseUnits(output);
};

/** Units in the output of `systemctl list-units --plain --no-legend`. */
export const parseUnits = (output: string): UnitReading[] =>
  output.split('\n').flatMap((line) => {
    const [name, load, active, sub] = line
      .trim()
      .replace(/^[●*] /, '')
      .split(/ +/, 4);
    return name && load && active && sub ? [{ name, isLoaded: load !== 'not-found', active, sub }] : [];
  });
