import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { escapeControls, print } from '../messages.ts';

export const checkConfig = defineCommand({
  name: 'check-config',
  argument: { name: 'FILE' },
  summary: 'Check a config file without starting the server.',
  details: [
    'It refuses the settings that a start would refuse. It opens neither port nor data directory.',
    'A database is read and compared with the settings, but never changed: the output says what a start would do to it.',
    'A database that cannot be reached is a warning, because a start waits for it.',
  ],
  settings: 'all',
  run: async ({ words: [file = ''], flags }) => {
    if (flags['config'] !== undefined) {
      throw new UsageError('check-config takes its file without --config: remove the flag');
    }
    const { parts, schema } = await import('../program.ts');
    const { check } = await parts.serve();
    const plans = await check(schema, { ...flags, config: file });
    print([`${escapeControls(file)} is valid`, ...plans, ''].join('\n'));
    return undefined;
  },
});
