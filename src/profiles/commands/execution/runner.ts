import type { ParsedCommand } from '../policy/policy.ts';

/** One object of a result, by property name. */
export type Row = Record<string, unknown>;

export interface CommandOutput {
  rows: Row[];
  /** True if there was more than the bounds allow. */
  truncated: boolean;
}

/** Runs the commands that the policy allows. */
export interface Runner {
  name: 'native' | 'powershell';
  /**
   * Rejects with a CommandFailure if the command itself fails, and with the signal's reason once it is aborted.
   * All child processes have ended when it settles.
   */
  run(command: ParsedCommand, signal: AbortSignal): Promise<CommandOutput>;
}

/** How a started command ended. */
export const exits = ['ok', 'failed', 'timed-out', 'abandoned'] as const;
export type Exit = (typeof exits)[number];

/** The command failed; the message is for the client. */
export class CommandFailure extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = 'failed') {
    super(message);
    this.exit = exit;
  }
}
