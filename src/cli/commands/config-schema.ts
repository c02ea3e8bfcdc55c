import { defineCommand } from '../command.ts';
import { print } from '../messages.ts';

export const configSchema = defineCommand({
  name: 'config-schema',
  summary: 'Print the JSON Schema of the config file, for editors.',
  run: async () => {
    const { mountRules, schema, toFileSchema } = await import('../program.ts');
    print(`${JSON.stringify(toFileSchema(schema, mountRules), null, 2)}\n`);
    return undefined;
  },
});
