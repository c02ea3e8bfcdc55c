import type { ParsedCommand } from '../policy/policy.ts';

/** One object of a result, by property name. */
export type Row = Record<string, unknown>;

export interface CommandOutput {
  rows: Row[];
  /** There was more than the bounds let through. */
  truncated: boolean;
}

/** What carries out commands that the policy allows. */
export interface Runner {
  name: 'native' | 'powershell';
  /**
   * Rejects with a CommandFailure where the command itself fails, and with the signal's reason once that is
   * aborted; in every case all child processes have ended by then.
   */
  run(command: ParsedCommand, signal: AbortSignal): Promise<CommandOutput>;
}

/** How a command that was begun ended. */
export const exits = ['ok', 'failed', 'timed-out', 'abandoned'] as const;
export type Exit = (typeof exits)[number];

/** A command did not succeed; the message is for who asked. */
export class CommandFailure extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = 'failed') {
    super(message);
    this.exit = exit;
  }
}
