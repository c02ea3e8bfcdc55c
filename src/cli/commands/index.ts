import type { Tool } from '../../profiles/feature.ts';
import { type Command, defineCommand } from '../command.ts';
import { print } from '../messages.ts';
import { checkConfig } from './check-config.ts';
import { completion } from './completion.ts';
import { configSchema } from './config-schema.ts';
import { createKey } from './create-key.ts';
import { hashPassword } from './hash-password.ts';
import { healthcheck } from './healthcheck.ts';
import { manPage } from './man-page.ts';
import { runProgram } from './run.ts';
import { send } from './send.ts';
import { serve } from './serve.ts';
import { exportStore, importStore } from './transfer.ts';

/** The program's own commands, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  send,
  runProgram,
  healthcheck,
  checkConfig,
  configSchema,
  createKey,
  hashPassword,
  exportStore,
  importStore,
  completion,
  manPage,
];

/** All commands, those of features too, whose code this loads. */
export const listCommands = async (): Promise<Command[]> => {
  const { features } = await import('../program.ts');
  const tools = features.flatMap((feature) => feature.tools ?? []);
  return [...commands, ...tools.map(toCommand)];
};

const toCommand = ({ name, argument, summary, run }: Tool): Command =>
  defineCommand({
    name,
    argument: { name: argument, isQuoted: true },
    summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    settings: 'all',
    run: async ({ words: [text = ''], flags }) => {
      const { loadSettings, schema } = await import('../program.ts');
      const { output, ok } = await run(text, () => loadSettings(schema, flags));
      print(`${output}\n`);
      return ok ? 0 : 1;
    },
  });
