import { DatabaseLog } from '../../storage/postgres/records/database-log.ts';
import { defineFeature, type Tool } from '../feature.ts';
import { createNoticeTopic } from '../topic.ts';
import { auditTransfer, createAudit } from './audit.ts';
import { createAuditedExecution, createExecutor } from './execution/executor.ts';
import { Refusal } from './language/parse.ts';
import { checkCommand } from './policy/check.ts';
import { createRoutes } from './routes.ts';
import { chooseRunner } from './runners/native-runner.ts';
import { commandSettings, ExecutionNotice } from './schema.ts';

/** `signalbox check-command LINE`: whether POST /api/execute would run the line, without running it. */
const checkTool: Tool = {
  name: 'check-command',
  argument: 'LINE',
  summary: 'check whether a command line is allowed, and print how it is read or why it is refused; runs nothing',
  run: (line) => {
    const command = checkCommand(line);
    if (command instanceof Refusal) return { output: `refused: ${command.reason}`, ok: false };
    return { output: `allowed: ${command.name} ${JSON.stringify(command.parameters)}`, ok: true };
  },
};

/** Diagnostic commands in PowerShell syntax from a fixed allow list; each execution is in a durable audit. */
export const commands = defineFeature({
  name: 'commands',
  profiles: [{ name: 'commands', alias: 'X', mounts: ['/'], summary: 'allow-listed diagnostic commands' }],
  settings: commandSettings,
  tools: [checkTool],
  transfer: auditTransfer,
  create: async ({ host, clock, openLog, database, powerShellPaths, meters, settings }) => {
    const { commandRunner, commandTimeout: timeoutSeconds } = settings;
    const runner = await chooseRunner({ commandRunner, powerShellPaths, host, clock });
    const { auditRetainBytes: retainBytes, auditRetainDays: retainDays } = settings;
    const journal = database
      ? await DatabaseLog.open({
          database,
          table: 'audit',
          instance: database.instanceName,
          clock,
          retainDays: () => retainDays,
        })
      : await openLog('command audit', { name: 'commands', retainBytes, retainDays });
    const { topic, publish } = createNoticeTopic('admin', ExecutionNotice);
    const audit = createAudit(journal, ({ requestId }) => publish(() => ({ requestId })));
    const executor = createExecutor({ runner, timeoutSeconds });
    const executions = meters.counter('signalbox_commands_total', 'Commands by result.', ['result'], ['ok', 'refused']);
    const execution = createAuditedExecution({
      ...{ executor, audit, clock },
      count: (result) => {
        executions.at(result).value += 1;
      },
    });
    return {
      profiles: { commands: createRoutes({ execution, audit, runnerName: runner.name }) },
      topics: { executions: topic },
      reopen: () => journal.reopen(),
      close: async () => {
        await execution.close();
        await journal.close();
      },
    };
  },
});
