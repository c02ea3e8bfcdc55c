import type { UnitReading } from '../readings.ts';
import { readSystemdOutput } from './child.ts';

const paths = ['/usr/bin/systemctl', '/bin/systemctl'];

const limits = { ms: 10_000, bytes: 8 * 1024 * 1024 };

const list = ['list-units', '--all', '--plain', '--no-legend', '--no-pager', '--full'];

/** Reads `HostReadings.units`. */
export const readLoadedUnits = async (): Promise<UnitReading[] | null> => {
  const output = await readSystemdOutput(paths, list, limits);
  return output === null ? null : parseUnits(output);
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
