import type { Execution } from 'signalbox/client';
import { createAddressFilter } from '../list-address.ts';
import { fromTyped } from '../zone.ts';

/** Times are in the zone shown, as `2026-01-31T09:30`. */
export const auditFilter = createAddressFilter(['user', 'result', 'q', 'since', 'until']);

type Filter = ReturnType<typeof auditFilter.read>;

/** Stands for commands without a user in the address. */
export const noUser = '-';

export const results = ['ok', 'refused', 'failed', 'timed-out', 'abandoned', 'not-started'] as const;
export type Result = (typeof results)[number];

/** How a command ended. */
export const toResult = ({ decision, exit }: Execution): Result =>
  decision === 'refused' ? 'refused' : (exit ?? 'not-started');

/** The command with its parameters, as PowerShell writes them; of a refused line only its first word is known. */
export const toExecutionLine = ({ command, parameters }: Execution): string =>
  [command, ...Object.entries(parameters ?? {}).map(([name, value]) => `-${name} ${toValue(value)}`)].join(' ');

const toValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(toValue).join(',');
  if (typeof value === 'boolean') return `$${value}`;
  return typeof value === 'string' && !/^[\w.*?:/\\-]+$/.test(value) ? `'${value.replaceAll("'", "''")}'` : `${value}`;
};

export const executionMatches = (execution: Execution, { user, result, q = '', since, until }: Filter): boolean => {
  const time = Date.parse(execution.time);
  const written = `${toExecutionLine(execution)} ${execution.reason ?? ''}`.toLowerCase();
  return (
    (user === undefined || (execution.user ?? noUser) === user) &&
    (result === undefined || toResult(execution) === result) &&
    // A time that is not one is no filter: comparisons with NaN are false.
    !(since !== undefined && time < fromTyped(since)) &&
    !(until !== undefined && time >= fromTyped(until)) &&
    written.includes(q.toLowerCase())
  );
};
