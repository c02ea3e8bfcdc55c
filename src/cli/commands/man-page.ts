import { version } from '../../app/package-info.ts';
import { defineCommand } from '../command.ts';
import { print } from '../messages.ts';

export const manPage = defineCommand({
  name: 'man-page',
  summary: 'Print the manual page signalbox(1), for man.',
  run: async ({ listCommands }) => {
    const { features, parts, schema } = await import('../program.ts');
    const { createManPage } = await parts.manPage();
    print(createManPage(version, await listCommands(), schema, features));
    return undefined;
  },
});
