import { defineCommand } from '../command.ts';

export const hashPassword = defineCommand({
  name: 'hash-password',
  summary: 'Print a password hash for the setting users; prompts, or reads standard input.',
  run: async () => {
    const { parts } = await import('../program.ts');
    const { printPasswordHash } = await parts.hashPassword();
    await printPasswordHash({ input: process.stdin, output: process.stdout, messages: process.stderr });
    return undefined;
  },
});
