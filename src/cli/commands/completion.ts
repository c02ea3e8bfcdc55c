import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { print } from '../messages.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export const completion = defineCommand({
  name: 'completion',
  argument: { name: 'SHELL', choices: shells },
  summary: 'Print a completion script for bash, zsh or fish.',
  details: ['For bash, add this line to ~/.bashrc: eval "$(signalbox completion bash)"'],
  run: async ({ words: [shell], listCommands }) => {
    const [{ createBashCompletion }, { createZshCompletion }, { createFishCompletion }, { listCompleted }] =
      await Promise.all([
        import('../help/bash.ts'),
        import('../help/zsh.ts'),
        import('../help/fish.ts'),
        import('../help/completion-data.ts'),
      ]);
    const creators = new Map([
      ['bash', createBashCompletion],
      ['zsh', createZshCompletion],
      ['fish', createFishCompletion],
    ]);
    const create = creators.get(shell ?? '');
    if (!create) throw new UsageError(`completion takes ${shells.join(', ')}, not ${JSON.stringify(shell)}`);
    const { mountRules, schema } = await import('../settings.ts');
    print(create(listCompleted(await listCommands(), schema, mountRules.profiles)));
    return undefined;
  },
});
