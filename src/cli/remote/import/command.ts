import { readChoice, UsageError } from '../../args.ts';
import type { Command } from '../../command.ts';
import { say } from '../../stdio.ts';
import { type Asking, defineAskingCommand } from '../ask.ts';
import { followPlan, type ImportPlan } from './changes.ts';

interface ImportCommand<Program extends string> extends Pick<Command, 'name' | 'summary' | 'details'> {
  programs: readonly Program[];
  /** Reads the source and compares it with the server. Rejects with an ImportError. */
  plan(asking: Asking, program: Program, source: string): Promise<ImportPlan>;
}

/** Defines a command that prints the plan of an import from another program, and applies it with `--apply`. */
export const defineImportCommand = <const Program extends string>({
  programs,
  plan: readPlan,
  ...described
}: ImportCommand<Program>): Command =>
  defineAskingCommand({
    ...described,
    argument: { name: 'FILE|URL' },
    flags: {
      from: { value: 'PROGRAM', summary: 'Program to import from.', choices: programs },
      plan: { summary: 'Print only the plan (the default).' },
      apply: { summary: 'Apply the plan.' },
    },
    scope: 'admin',
    run: async (asking, { words: [source = ''], own: { from, plan, apply, json } }) => {
      if (from === undefined) throw new UsageError(`--from is required: one of ${programs.join(', ')}`);
      if (plan && apply) throw new UsageError('use only one of --plan and --apply');
      const program = readChoice('--from', from, programs);
      const { ImportError } = await import('./documents.ts');
      try {
        return await followPlan(asking, await readPlan(asking, program, source), { apply, json });
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        say(`${source}: ${error.message}`);
        return 1;
      }
    },
  });
