import Type from 'typebox';
import { defineFeature } from '../profile.ts';
import { chooseRunner } from './choose-runner.ts';
import { createExecutor } from './execute.ts';
import { createRoutes } from './routes.ts';

/** POST /api/execute: PowerShell-shaped diagnostics from a fixed allow-list. */
export const commands = defineFeature({
  name: 'commands',
  profiles: [{ name: 'commands', alias: 'X', summary: 'allow-listed diagnostic commands' }],
  settings: {
    executeAuth: Type.Enum(['admin', 'none'], {
      default: 'admin',
      description: 'Who may run commands: holders of a token with role Admin, or everybody.',
    }),
    commandTimeout: Type.Integer({
      minimum: 1,
      maximum: 50,
      default: 10,
      description: 'Seconds after which a command is ended.',
    }),
    commandRunner: Type.Enum(['auto', 'native', 'powershell'], {
      default: 'auto',
      description: 'What carries out commands; auto is powershell on Windows and native elsewhere.',
    }),
  },
  create: async ({ host, clock, powerShellPaths, settings }) => {
    const { commandRunner } = settings;
    const executor = createExecutor({
      runner: await chooseRunner({ commandRunner, powerShellPaths, host, clock }),
      timeoutSeconds: settings.commandTimeout,
    });
    const isOpen = settings.executeAuth === 'none';
    return {
      profiles: { commands: createRoutes(executor, isOpen ? 'open' : 'admin') },
      notices: isOpen
        ? ['Warning: whoever reaches this server may run commands, as executeAuth is none']
        : [],
      close: executor.close,
    };
  },
});
