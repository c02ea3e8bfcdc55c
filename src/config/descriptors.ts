import { existsSync, readFileSync } from 'node:fs';
import { SettingsError } from './settings-error.ts';

/** File descriptors beside those of served connections: 100 for connections that are refused, 64 for files. */
const reserve = 100 + 64;

/** A server for fewer connections is of no use. */
const fewestConnections = 10;

const advice = 'raise it with ulimit -n, or LimitNOFILE in a systemd unit';

/**
 * As many of the wanted connections as the limit on open files allows, with a warning if that is not all of them;
 * throws a SettingsError if it is too few.
 * Past the limit the server could neither accept connections nor open files.
 */
export const fitConnections = (wanted: number, limit = readLimit()) => {
  const possible = limit - reserve;
  if (wanted <= possible) return { maxConnections: wanted };
  if (possible < fewestConnections) {
    throw new SettingsError([
      `the limit on open files is ${limit}, and ${reserve + fewestConnections} is the least that can serve ` +
        `${fewestConnections} connections; ${advice}`,
    ]);
  }
  const reason = `because the limit on open files is ${limit}; ${advice}`;
  return { maxConnections: possible, warning: `maxConnections is ${possible} instead of ${wanted}, ${reason}` };
};

/** The soft limit on open files, which Node has raised to the hard one; infinite if the system does not say. */
const readLimit = (): number => {
  const path = '/proc/self/limits';
  const limits = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
};
