import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { print } from '../messages.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export const completion = defineCommand({
  name: 'completion',
  argument: { name: 'SHELL', choices: shells },
  summary: 'Print a completion script for bash, zsh or fish.',
  details: ['For bash, add this line to ~/.bashrc: eval "$(signalbox completion bash)"'],
  run: async ({ words: [word], listCommands }) => {
    const shell = shells.find((one) => one === word);
    if (!shell) throw new UsageError(`completion takes ${shells.join(', ')}, not ${JSON.stringify(word)}`);
    const { mountRules, parts, schema } = await import('../program.ts');
    const { createCompletion } = await parts.completion();
    print(createCompletion(shell, await listCommands(), schema, mountRules.profiles));
    return undefined;
  },
});
