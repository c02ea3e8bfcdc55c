import { computeOnce } from '../../host/reading.ts';
import { ExpectedError } from '../../lib/expected-errors.ts';
import type { ParsedCommand } from './policy.ts';
import { createAnyMatcher, createTextMatcher, hasWildcard, nameWildcards } from './wildcards.ts';

/** Object in a result, by property name. */
export type OutputRow = Record<string, unknown>;

export interface CommandOutput {
  rows: OutputRow[];
  /** True if the result was cut off at a limit. */
  truncated: boolean;
}

/** Creates an output with all rows. */
export const toOutput = (rows: OutputRow[]): CommandOutput => ({ rows, truncated: false });

/** Runs the commands that the policy allows. */
export interface Runner {
  name: 'native' | 'powershell';
  /**
   * Runs the command. Rejects with a CommandFailure if the command itself fails, and with the signal's reason after an
   * abort. By the time the promise settles, all child processes have ended.
   */
  run(command: ParsedCommand, signal: AbortSignal): Promise<CommandOutput>;
}

/** Outcomes of a started command. */
export const exits = ['ok', 'failed', 'timed-out', 'abandoned'] as const;

/** Failure of a command, with a message for the client. */
export class CommandFailure extends ExpectedError {
  readonly exit: (typeof exits)[number];

  constructor(message: string, exit: CommandFailure['exit'] = 'failed') {
    super(message);
    this.exit = exit;
  }
}

/**
 * Returns the items whose `key` matches one of the patterns, or all items if there are no patterns. If a pattern
 * without wildcards matches no item, throws a CommandFailure with the message from `refuse`.
 */
export const selectMatching = <K extends string, T extends Record<K, string>>(
  items: readonly T[],
  key: K,
  patterns: readonly string[] | undefined,
  refuse: (pattern: string) => string,
): readonly T[] => {
  if (!patterns) return items;
  const isThere = (pattern: string): boolean => {
    const matches = createTextMatcher(pattern, nameWildcards);
    return items.some((item) => matches(item[key]));
  };
  const missing = patterns.find((pattern) => !hasWildcard(pattern) && !isThere(pattern));
  if (missing !== undefined) throw new CommandFailure(refuse(missing));
  const isWanted = createAnyMatcher(patterns);
  return items.filter((item) => isWanted(item[key]));
};

export const maxRows = 5000;
export const maxOutputBytes = 8 * 1024 * 1024;

export interface BoundedResult {
  /** Objects as JSON. */
  rows: string[];
  truncated: boolean;
}

/**
 * Returns the objects as JSON, up to 5,000 objects and 8 MiB. Output shared by several requests is converted only once.
 */
export const toBoundedResult = computeOnce(({ rows, truncated }: CommandOutput): BoundedResult => {
  const texts: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, maxRows)) {
    const text = JSON.stringify(row);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxOutputBytes) break;
    texts.push(text);
  }
  return { rows: texts, truncated: truncated || texts.length < rows.length };
});
