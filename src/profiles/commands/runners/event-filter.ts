import type { Row } from '../execution/runner.ts';
import { createAnyMatcher } from '../language/wildcard.ts';
import type { CommandParameters } from '../policy/policy.ts';

/** Tests rows of Get-EventLog against its parameters; LogName and Newest are left to the caller. */
export const createEventFilter = (parameters: CommandParameters<'Get-EventLog'>): ((event: Row) => boolean) => {
  const { EntryType, InstanceId, Index } = parameters;
  const isFromSource = createAnyMatcher(parameters.Source ?? ['*']);
  const after = parameters.After?.toISOString() ?? '';
  const before = parameters.Before?.toISOString() ?? '9';
  return (event) =>
    isOneOf(EntryType, event['EntryType']) &&
    isOneOf(InstanceId, event['InstanceId']) &&
    isOneOf(Index, event['Index']) &&
    isFromSource(String(event['Source'] ?? '')) &&
    isBetween(String(event['TimeGenerated'] ?? ''), after, before);
};

const isOneOf = (values: readonly unknown[] | undefined, value: unknown): boolean => values?.includes(value) ?? true;

const isBetween = (time: string, after: string, before: string): boolean => time > after && time < before;
