import { type Severity, severities } from '../severity.ts';

/** What is kept of each step, in the order of the file; change the file's version with it. */
export const hostColumns = [
  'cpu',
  'memoryUsed',
  'memoryTotal',
  'swapUsed',
  'load',
  'networkReceived',
  'networkSent',
] as const;

/** Severities as /metrics and the history name them. */
export const alertLevels = severities.map((severity) => severity.toLowerCase() as Lowercase<Severity>);

/** File systems that are kept; a machine with more disks shows the first ones. */
export const mostDisks = 8;

/** The first column of the alerts, and of the disks: used and total bytes in turn. */
export const alertsAt = hostColumns.length;
export const disksAt = alertsAt + alertLevels.length;

export const columnCount = disksAt + 2 * mostDisks;
