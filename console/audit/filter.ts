import type { Execution } from 'signalbox/client';
import { createAddressFilter } from '../list-address.ts';
import { fromTyped } from '../zone.ts';

/** Filters. Times are in the displayed zone, such as `2026-01-31T09:30`. */
export const auditFilter = createAddressFilter(['user', 'result', 'q', 'since', 'until']);

type Filter = ReturnType<typeof auditFilter.read>;

/** Value of the `user` parameter for commands without a user. */
export const noUser = '-';

export const results = ['ok', 'refused', 'failed', 'timed-out', 'abandoned', 'not-started'] as const;
export type Result = (typeof results)[number];

/** Returns the outcome of a command. */
export const toResult = ({ decision, exit }: Execution): Result =>
  decision === 'refused' ? 'refused' : (exit ?? 'not-started');

/** Formats a command line in PowerShell syntax. Of a refused line, only the first word is known. */
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
    // An invalid time does not filter, because comparisons with NaN are false.
    !(since !== undefined && time < fromTyped(since)) &&
    !(until !== undefined && time >= fromTyped(until)) &&
    written.includes(q.toLowerCase())
  );
};
