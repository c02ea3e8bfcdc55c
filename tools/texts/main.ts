import { listCommands } from '../../src/cli/commands.ts';
import { features, schema } from '../../src/cli/program.ts';
import type { CompletionShell, Texts } from '../../src/cli/texts.ts';
import { listProfileNames } from '../../src/server/mounts.ts';
import { programVersion } from '../../src/server/package-info.ts';
import { createCompletion } from './completion.ts';
import { toFileSchema } from './config-schema.ts';
import { createCommandHelp, createUsage } from './help.ts';
import { createManPage } from './man-page.ts';

export { describeApi } from './api.ts';

/** Creates the texts that the program prints about itself. The build writes these texts to `dist/texts.json`. */
export const createTexts = async (): Promise<Texts> => {
  const commands = await listCommands();
  const profiles = listProfileNames(features.flatMap((feature) => feature.profiles));
  const toHelp = (command: (typeof commands)[number]): string =>
    command.name === 'serve' ? createUsage(commands, schema, features) : createCommandHelp(command);
  const toScript = (shell: CompletionShell): string => createCompletion(shell, commands, schema, profiles);
  return {
    help: Object.fromEntries(commands.map((command) => [command.name, toHelp(command)])),
    completions: { bash: toScript('bash'), zsh: toScript('zsh'), fish: toScript('fish') },
    manPage: createManPage(programVersion, commands, schema, features),
    configSchema: `${JSON.stringify(toFileSchema(schema, profiles), null, 2)}\n`,
  };
};
