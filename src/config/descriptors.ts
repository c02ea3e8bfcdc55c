import { existsSync, readFileSync } from 'node:fs';
import { SettingsError } from './settings-error.ts';

/** File descriptors kept free besides those of served connections: 100 for refused connections, 64 for files. */
const reserve = 100 + 64;

/** With fewer connections, the server does not start. */
const fewestConnections = 10;

const advice = 'raise it with ulimit -n, or LimitNOFILE in a systemd unit';

/**
 * Lowers the number of connections to what the limit on open files allows, with a warning; throws a SettingsError if
 * too few are left. At the limit the server could neither accept connections nor open files.
 */
export const fitConnections = (wanted: number, limit = readLimit()) => {
  const possible = limit - reserve;
  if (wanted <= possible) return { maxConnections: wanted };
  if (possible < fewestConnections) {
    throw new SettingsError([
      `the limit on open files is ${limit}, but serving ${fewestConnections} connections needs at least ` +
        `${reserve + fewestConnections}; ${advice}`,
    ]);
  }
  const reason = `because the limit on open files is ${limit}; ${advice}`;
  return { maxConnections: possible, warning: `maxConnections is ${possible} instead of ${wanted}, ${reason}` };
};

/** The soft limit on open files, which Node raises to the hard limit on startup; infinite if unknown. */
const readLimit = (): number => {
  const path = '/proc/self/limits';
  const limits = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
};
