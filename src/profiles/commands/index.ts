import Type from 'typebox';
import { defineFeature } from '../profile.ts';
import { createAudit } from './audit.ts';
import { createAuditedExecution } from './audited-execution.ts';
import { checkTool } from './check-tool.ts';
import { createExecutor } from './execute.ts';
import { createNativeRunner } from './native-runner.ts';
import { createRoutes } from './routes.ts';

/** PowerShell-shaped diagnostics from a fixed allow-list, each of them in a durable audit. */
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
    auditRetainBytes: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'How many bytes of closed audit files to keep; 0 keeps all.',
    }),
    auditRetainDays: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'For how many days to keep a closed audit file; 0 keeps all.',
    }),
  },
  tools: [checkTool],
  create: async ({ host, clock, openLog, settings }) => {
    const journal = await openLog('command audit', {
      name: 'commands',
      retainBytes: settings.auditRetainBytes,
      retainDays: settings.auditRetainDays,
    });
    const audit = createAudit(journal);
    const runner = createNativeRunner({ host, clock });
    const executor = createExecutor({ runner, timeoutSeconds: settings.commandTimeout });
    const execution = createAuditedExecution({ executor, audit, clock });
    const isOpen = settings.executeAuth === 'none';
    return {
      profiles: { commands: createRoutes({ execution, audit, runnerName: runner.name, isOpen }) },
      notices: isOpen
        ? ['Warning: whoever reaches this server may run commands, as executeAuth is none']
        : [],
      reopen: () => journal.reopen(),
      close: async () => {
        await execution.close();
        await journal.close();
      },
    };
  },
});
