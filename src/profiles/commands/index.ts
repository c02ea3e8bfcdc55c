import { defineFeature } from '../feature.ts';
import { createAudit } from './audit.ts';
import { createAuditedExecution } from './audited-execution.ts';
import { checkTool } from './check-tool.ts';
import { chooseRunner } from './choose-runner.ts';
import { createExecutor } from './execute.ts';
import { createRoutes } from './routes.ts';
import { commandSettings } from './settings.ts';

/** PowerShell-shaped diagnostics from a fixed allow-list, each of them in a durable audit. */
export const commands = defineFeature({
  name: 'commands',
  profiles: [{ name: 'commands', alias: 'X', mounts: ['/'], summary: 'allow-listed diagnostic commands' }],
  settings: commandSettings,
  tools: [checkTool],
  create: async ({ host, clock, openLog, powerShellPaths, settings }) => {
    const { commandRunner, commandTimeout: timeoutSeconds } = settings;
    const runner = await chooseRunner({ commandRunner, powerShellPaths, host, clock });
    const journal = await openLog('command audit', {
      name: 'commands',
      retainBytes: settings.auditRetainBytes,
      retainDays: settings.auditRetainDays,
    });
    const audit = createAudit(journal);
    const executor = createExecutor({ runner, timeoutSeconds });
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
